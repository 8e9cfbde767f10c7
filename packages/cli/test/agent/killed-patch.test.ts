import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { customCall, respond, say } from "@codex/agent/testing";
import { expect, it } from "vitest";
import { finish, useCommand } from "../support.js";
import { setUpAgent } from "./support.js";

const command = useCommand();
const program = fileURLToPath(new URL("../programs/kill-at-file-call.cjs", import.meta.url));
const UNHELD = { config: 'sandbox_mode = "danger-full-access"' };

/** A new file in new directories, a file that gets shorter, one behind a link, a move, a deletion. */
const PATCH = [
  "*** Begin Patch",
  "*** Add File: new/deep/added",
  "+one",
  "*** Update File: shorter",
  "@@",
  "-a long line that goes",
  "+a line",
  "*** Update File: link",
  "@@",
  "-one",
  "+one and more",
  "*** Update File: moved",
  "*** Move to: target",
  "@@",
  "-one",
  "+two",
  "*** Delete File: deleted",
  "*** End Patch",
].join("\n");

/** Content and permissions of each file before the patch and after it; undefined: there is none. */
const FILES: Readonly<Record<string, readonly [before: string | undefined, after: string | undefined]>> = {
  "new/deep/added": [undefined, "644 one\n"],
  shorter: ["640 a long line that goes\n", "640 a line\n"],
  link: ["600 one\n", "600 one and more\n"],
  target: [undefined, "750 two\n"],
  moved: ["750 one\n", undefined],
  deleted: ["644 one\n", undefined],
};

function readEntry(path: string): string | undefined {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  return mode === undefined ? undefined : `${(mode & 0o777).toString(8)} ${readFileSync(path, "utf8")}`;
}

const isWhole = (name: string, entry: string | undefined): boolean => FILES[name]!.includes(entry);

/** Starts `codex exec` with the patch; it is killed before a file call, or not if it makes fewer. */
async function killAt(call: number) {
  const script = [respond(customCall("c1", "apply_patch", PATCH)), say("done"), say("done")];
  const { endpoint, env, home, repository, run } = await setUpAgent(command, script, UNHELD);
  mkdirSync(join(repository, "linked"));
  for (const [name, text, mode] of [
    ["shorter", "a long line that goes\n", 0o640],
    ["moved", "one\n", 0o750],
    ["deleted", "one\n", 0o644],
    ["linked/file", "one\n", 0o600],
  ] as const) {
    writeFileSync(join(repository, name), text);
    chmodSync(join(repository, name), mode);
  }
  symlinkSync("linked/file", join(repository, "link"));
  const notes = join(home, "notes");
  writeFileSync(notes, "");
  const child = command.startIn(repository, ["exec", "-m", "gpt-5.5", "go"], {
    ...env,
    NODE_OPTIONS: `--require ${JSON.stringify(program)}`,
    KILL_AT: String(call),
    KILL_BELOW: repository,
    KILL_NOTES: notes,
  });
  child.stdin.end();
  const { signal } = await finish(child);
  const calls = readFileSync(notes, "utf8").trimEnd().split("\n");
  const files = Object.keys(FILES).map((name) => readEntry(join(repository, name)));
  const left = readdirSync(repository, { recursive: true })
    .map(String)
    .filter((name) => /\.codex-/.test(name))
    .map((name) => ({ path: join(repository, name), text: readFileSync(join(repository, name), "utf8") }));
  const resume = async () => {
    const asked = endpoint.requests.length;
    expect((await run(["resume", "--last", "again"])).code).toBe(0);
    const { input } = endpoint.requests[asked]!.body;
    return String(input.find(({ type }) => type === "custom_tool_call_output")?.output);
  };
  return { signal, repository, calls, files, left, resume };
}

it("leaves each file old or new, or with its old content beside it, killed at each of its file calls, and resume tells which", async () => {
  const names = Object.keys(FILES);
  const whole = await killAt(Number.POSITIVE_INFINITY);
  expect([whole.signal, whole.files, whole.left]).toEqual([null, names.map((name) => FILES[name]![1]), []]);
  const { calls } = whole;
  expect(calls.length).toBeGreaterThan(15);
  const states = new Set<string>();
  const check = async (at: number) => {
    const { signal, repository, files, left, resume } = await killAt(at);
    expect(signal).toBe("SIGKILL");
    for (const [index, name] of names.entries()) {
      if (isWhole(name, files[index])) continue;
      const old = FILES[name]![0]?.replace(/^\d+ /, "");
      expect(
        left.map(({ text }) => text),
        `${name}, killed before ${calls[at]}`,
      ).toEqual([old]);
    }
    expect(lstatSync(join(repository, "link")).isSymbolicLink()).toBe(true);
    expect(left.length).toBeLessThanOrEqual(1);
    // What resume tells depends on the files: once for each state is enough, where it can be with a temporary file beside it.
    const state = JSON.stringify(files);
    if (states.has(state) || /^(?:open|mkdir) /.test(calls[at]!)) return;
    states.add(state);
    const lines = (await resume()).split("\n").slice(2);
    const expected = names.map((name, index) => {
      if (!isWhole(name, files[index])) return `${name}: neither`;
      return `${name}: ${files[index] === FILES[name]![1] ? "new" : "old"}`;
    });
    const rest = left.map(({ path }) => path);
    const told = lines.map(
      (line) => /^.*?(?:: (?:old|new|neither)|(?=: (?:a temporary|the whole old)))/.exec(line)?.[0],
    );
    expect(told.sort()).toEqual([...expected, ...rest].sort());
  };
  let next = 0;
  const checkNext = async (): Promise<void> => {
    while (next < calls.length) await check(next++);
  };
  await Promise.all([checkNext(), checkNext()]);
  // One for each file that was written, and those that were cut off.
  expect(states.size).toBeGreaterThan(names.length);
}, 120_000);
