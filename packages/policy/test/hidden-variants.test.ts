import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createLazyShellParser } from "@codex/shell-analysis";
import { afterAll, describe, expect, it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import type { AnalyzedCommand } from "../src/analyzed-command.js";
import { evaluateRequirement } from "../src/requirement.js";
import { createEffectiveRules } from "../src/rule-book.js";
import { parseRulePolicy } from "../src/rules/load-policy.js";
import { BY_CODE } from "./variants/by-code.js";
import { BY_COMPUTING } from "./variants/by-computing.js";
import { BY_COPIES } from "./variants/by-copies.js";
import { BY_GRAMMAR } from "./variants/by-grammar.js";
import { BY_MADE_FILES } from "./variants/by-made-files.js";
import { BY_PROGRAMS } from "./variants/by-programs.js";
import { BY_READING } from "./variants/by-reading.js";
import { BY_RUN_TIME } from "./variants/by-run-time.js";
import { BY_SETTINGS } from "./variants/by-settings.js";
import { BY_SPELLING } from "./variants/by-spelling.js";
import { BY_TOOLS } from "./variants/by-tools.js";
import { IN_BASH } from "./variants/in-bash.js";
import { IN_OTHER_SHELLS } from "./variants/in-other-shells.js";
import type { Variant } from "./variants/variant.js";

const SPELLED: readonly Variant[] = [...IN_BASH, ...BY_COMPUTING, ...BY_PROGRAMS, ...IN_OTHER_SHELLS];
const VARIANTS: readonly Variant[] = [
  ...SPELLED,
  ...BY_RUN_TIME,
  ...BY_CODE,
  ...BY_MADE_FILES,
  ...BY_SETTINGS,
  ...BY_COPIES,
  ...BY_SPELLING,
  ...BY_TOOLS,
  ...BY_GRAMMAR,
  ...BY_READING,
];

// Each way to run `zap` is shown to run it in the real shell, where that is installed, and is judged under rules about it.

// Scripts name the marker without quotes.
const base = realpathSync(mkdtempSync(join(/\s/.test(tmpdir()) ? "/tmp" : tmpdir(), "variants-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe.concurrent("runs for real", () => {
  it.for(VARIANTS.map((variant, index) => [index, title(variant), variant] as const))(
    "%i %s",
    { timeout: 120_000 },
    async ([index, , variant], { expect: expectHere, skip }) => {
      const reason = findReason(variant.needs);
      skip(reason !== undefined, reason);
      expectHere(await runForReal(variant, join(base, String(index)))).toBe("it ran");
    },
  );
});

const shellParser = createLazyShellParser();

const rulesFor = (decision: string) =>
  createEffectiveRules(
    parseRulePolicy([{ file: "r", text: `prefix_rule(pattern=["zap"], decision="${decision}")` }]),
    "/w",
  );
const FORBIDDEN = rulesFor("forbidden");
const PROMPT = rulesFor("prompt");

const analyze = ({ argv }: Variant) => analyzeCommand(fill(argv, "/w/zap"), undefined, shellParser);

const judge = (command: AnalyzedCommand, rules: ReturnType<typeof rulesFor>, approvalPolicy: "on-request" | "never") =>
  evaluateRequirement(command, { approvalPolicy, sandboxPermissions: "use_default", unrestricted: true, rules }).kind;

describe("is judged", () => {
  it.for(VARIANTS.map((variant, index) => [index, title(variant), variant] as const))(
    "%i %s",
    async ([, , variant]) => {
      const command = await analyze(variant);
      expect(judge(command, FORBIDDEN, "on-request")).not.toBe("skip");
      expect(judge(command, FORBIDDEN, "never")).toBe("forbidden");
      expect(judge(command, PROMPT, "on-request")).toBe("needsApproval");
      expect(judge(command, PROMPT, "never")).toBe("forbidden");
    },
  );

  it("forbids nearly all, and asks where it can only guess", async () => {
    const kinds = await Promise.all(
      SPELLED.map(async (variant) => judge(await analyze(variant), FORBIDDEN, "on-request")),
    );
    const asked = SPELLED.filter((_, index) => kinds[index] === "needsApproval");
    expect(SPELLED.length).toBeGreaterThan(300);
    expect(asked.length).toBeLessThan(SPELLED.length / 8);
  });
});

function title({ way, argv }: Variant): string {
  return `${way}: ${JSON.stringify(argv)}`;
}

/** `ZAP` is a script that leaves a mark, `ZAPBIN` a binary that makes the file it is given. */
function fill(argv: readonly string[], zap: string): string[] {
  return argv.map((arg) => arg.replaceAll("ZAPBIN", `${zap}.d/zap`).replaceAll(/\bZAP\b/g, zap));
}

async function runForReal(variant: Variant, directory: string): Promise<string> {
  const work = join(directory, "work");
  const zap = join(directory, "zap");
  mkdirSync(work, { recursive: true });
  mkdirSync(`${zap}.d`);
  copyFileSync(realpathSync("/usr/bin/touch"), `${zap}.d/zap`);
  writeFileSync(zap, `#!/bin/sh\n: > '${directory}/ran'\n`);
  chmodSync(zap, 0o755);
  const [program = "", ...args] = fill(variant.argv, zap);
  const env = { PATH: `${directory}${delimiter}${process.env.PATH}`, HOME: directory, TERM: "xterm", LANG: "C.UTF-8" };
  const child = spawn(program, args, { cwd: work, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 60_000);
  await once(child, "exit");
  clearTimeout(timer);
  return existsSync(join(directory, "ran")) || existsSync(join(work, "x")) ? "it ran" : `it did not run: ${output}`;
}

/** What shows that a program works here, where its being there does not. */
const PROBES: Record<string, readonly string[]> = {
  strace: ["true"],
  gdb: ["-batch", "-ex", "run", "--args", "true"],
  perf: ["stat", "true"],
  valgrind: ["true"],
  unshare: ["-m", "true"],
  bwrap: ["--dev-bind", "/", "/", "true"],
  nsenter: ["-t", String(process.pid), "-u", "true"],
  chroot: ["/", "true"],
  chrt: ["-o", "0", "true"],
  ionice: ["-c3", "true"],
  su: ["-c", "true"],
  runuser: ["-u", "root", "true"],
  sg: ["root", "true"],
  "ld.so": ["--version"],
  setarch: ["--uname-2.6", "true"],
  npx: ["--version"],
  npm: ["--version"],
};

const reasons = new Map<string, string | undefined>();

/** Why a variant cannot be run here. */
function findReason(needs: string | undefined): string | undefined {
  if (process.platform !== "linux") return "the options are those of GNU and util-linux";
  if (needs === undefined) return undefined;
  if (!reasons.has(needs)) reasons.set(needs, probe(needs));
  return reasons.get(needs);
}

function probe(needs: string): string | undefined {
  const isThere = (process.env.PATH ?? "").split(delimiter).some((directory) => existsSync(join(directory, needs)));
  if (!isThere) return `\`${needs}\` is not installed`;
  const args = PROBES[needs];
  if (args === undefined) return undefined;
  const { status } = spawnSync(needs, args, { stdio: "ignore", timeout: 60_000 });
  return status === 0 ? undefined : `\`${needs}\` does not work here`;
}
