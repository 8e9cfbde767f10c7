import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadShellParser } from "../src/parser.js";
import { splitScript } from "../src/split.js";

const BASH = "/bin/bash";
const SCRIPTS = 200;

/** Pieces of scripts, chosen for what shells and grammars disagree about. */
const PIECES = [
  ...["p ", "q ", " ", "  ", "a", "'x y'", '"x y"', "''", '""', '"a\'b"', "'a\"b'", '"\\d"', "a=b", "-x", " -- ", "é"],
  ...["1", " 1 ", "0x1", "08", "!", " ! ", ":", "@", "+", ",", "%", "if", "then", "fi", "\t", "\n", ";", " ; ", "&&"],
  ...[" && ", "|", " | ", ">/dev/null", " >/dev/null ", "2>&1", " 2>&1", "</dev/null", "\\\n", " \\\n "],
  ...["\u00a0", "\u2003", "\f", "\v", "\r", "\x01", "\\", "~", "#", "$", "*", "="],
];

/** The same numbers on every run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const directory = mkdtempSync(join(tmpdir(), "split-"));
afterAll(() => rmSync(directory, { recursive: true }));

const UNIT = "\x1e";
const RECORD = "\x1d";
const FUNCTIONS = ["p", "q"]
  .map((name) => `${name}() { local IFS=$'\\036'; local l="${name}\${1+$IFS}$*"; printf '%s\\035' "$l" >> "$LOG"; }\n`)
  .join("");

/** The commands bash runs, each as its words; `p` and `q` are the only ones there are. */
function runInBash(script: string): string[][] {
  const log = join(directory, "log");
  const functions = join(directory, "functions.sh");
  writeFileSync(functions, FUNCTIONS);
  rmSync(log, { force: true });
  const env = { PATH: directory, BASH_ENV: functions, LOG: log, LC_ALL: "C.UTF-8" };
  spawnSync(BASH, ["-c", script], { env, cwd: directory, stdio: "ignore" });
  const text = existsSync(log) ? readFileSync(log, "utf8") : "";
  return text
    .split(RECORD)
    .slice(0, -1)
    .map((record) => record.split(UNIT));
}

const sorted = (commands: string[][]) => commands.map((words) => JSON.stringify(words)).sort();

describe.skipIf(!existsSync(BASH))("splitScript beside bash (needs /bin/bash)", () => {
  it("splits only into what bash runs", { timeout: 240_000 }, async () => {
    const parser = await loadShellParser();
    const random = createRandom(1);
    const pick = () => PIECES[Math.floor(random() * PIECES.length)] ?? "";
    let compared = 0;
    while (compared < SCRIPTS) {
      const script = `p ${Array.from({ length: 1 + Math.floor(random() * 8) }, pick).join("")}`;
      const split = splitScript(parser, script);
      if (split === null || !split.every(([name]) => name === "p" || name === "q")) continue;
      compared += 1;
      expect(sorted(runInBash(script)), JSON.stringify(script)).toEqual(sorted(split));
    }
  });
});
