import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { HookReport, ToolUse } from "../src/hook.js";
import { createHooks } from "../src/node/create-hooks.js";
import { readHooks } from "../src/node/definitions.js";
import { MAX_ASYNC, MAX_OUTPUT_BYTES } from "../src/node/limits.js";

const use: ToolUse = {
  sessionId: "s",
  turnId: "t",
  transcriptPath: null,
  cwd: "/work",
  model: "m",
  permissionMode: "default",
  id: "1",
  tool: "Bash",
  input: { command: "ls" },
};

function start(
  commands: readonly (string | { command: string; timeout?: number; async?: boolean })[],
  event = "PreToolUse",
) {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "hooks-"));
  const reports: HookReport[] = [];
  const groups = commands.map((command) => ({
    hooks: [{ type: "command", ...(typeof command === "string" ? { command } : command) }],
  }));
  const hooks = createHooks({
    hooks: readHooks({ [event]: groups }, { file: "/f" }).hooks,
    directory,
    env: { ...process.env, DIRECTORY: directory },
    onReport: (report) => reports.push(report),
  });
  onTestFinished(() => {
    hooks.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { hooks, directory, reports, read: (name: string) => readFileSync(join(directory, name), "utf8") };
}

describe("a hook that fails before a tool is used refuses, and is reported", () => {
  it.each([
    [`head -c ${MAX_OUTPUT_BYTES + 1} /dev/zero`, `it wrote more than ${MAX_OUTPUT_BYTES} bytes to stdout`],
    ["yes >&2", `it wrote more than ${MAX_OUTPUT_BYTES} bytes to stderr`],
    ["kill -9 $$", "it was killed by SIGKILL"],
    ["/nowhere/hook", "it exited with code 127"],
    ["exit 130", "it exited with code 130"],
    ["echo '['", "its output is not the JSON of this event"],
    ["printf '\\377'", "its output is not UTF-8"],
    [{ command: "sleep 60 & sleep 60", timeout: 1 }, "it took longer than 1 s"],
  ])("%j", async (command, why) => {
    const { hooks, reports } = start([command]);
    expect(await hooks.preToolUse(use)).toEqual({ kind: "block", reason: `the hook failed: ${why}`, context: [] });
    expect(await hooks.permissionRequest(use)).toBeUndefined();
    expect(reports.map(({ kind, text }) => [kind, text])).toEqual([["failed", why]]);
  });

  it("also where it runs in a directory that is not there", async () => {
    const { hooks, directory } = start(["true"]);
    rmSync(directory, { recursive: true });
    expect(await hooks.preToolUse(use)).toMatchObject({ kind: "block", reason: /it cannot be started/ });
  });
});

it("a hook that takes too long is killed with what it has started", async () => {
  const { hooks, read } = start([{ command: "sleep 60 & echo $! > $DIRECTORY/pid; sleep 60", timeout: 1 }]);
  await hooks.preToolUse(use);
  const pid = Number(read("pid"));
  await expect.poll(() => isAlive(pid)).toBe(false);
});

it("a hook that an aborted signal ends is killed, and has failed", async () => {
  const abort = new AbortController();
  const { hooks, directory } = start(["touch $DIRECTORY/started; sleep 60"]);
  const answer = hooks.preToolUse(use, abort.signal);
  await expect.poll(() => existsSync(join(directory, "started"))).toBe(true);
  abort.abort();
  expect(await answer).toMatchObject({ kind: "block", reason: "the hook failed: it was interrupted" });
  expect(await hooks.preToolUse(use, abort.signal)).toMatchObject({ kind: "block" });
});

it("what a hook leaves running does not delay its answer, and ends with it unless it has let go of the output", async () => {
  const { hooks, read } = start(["sleep 60 & echo $! > $DIRECTORY/pid; echo no >&2; exit 2"]);
  expect(await hooks.preToolUse(use)).toMatchObject({ kind: "block", reason: "no" });
  const held = Number(read("pid"));
  await expect.poll(() => isAlive(held)).toBe(false);
  const other = start(["sleep 60 >/dev/null 2>&1 & echo $! > $DIRECTORY/pid"]);
  expect(await other.hooks.preToolUse(use)).toEqual({ kind: "continue", context: [] });
  const left = Number(other.read("pid"));
  expect(isAlive(left)).toBe(true);
  process.kill(left, "SIGKILL");
});

it("a hook need not read what it is given, however long that is", async () => {
  const { hooks } = start(["exec <&-; exit 0"]);
  const long = { ...use, input: { command: "x".repeat(4 * 1024 * 1024) } };
  expect(await hooks.preToolUse(long)).toEqual({ kind: "continue", context: [] });
});

it("hooks of an event run at the same time: each waits for the other", async () => {
  const wait = (own: string, other: string) =>
    `touch $DIRECTORY/${own}; until [ -e $DIRECTORY/${other} ]; do sleep 0.02; done`;
  const { hooks } = start([wait("a", "b"), wait("b", "a")]);
  expect(await hooks.preToolUse(use)).toEqual({ kind: "continue", context: [] });
});

it("a hook reads one JSON object on stdin, whose members are those of Codex", async () => {
  const { hooks, read } = start(["cat > $DIRECTORY/read"]);
  await hooks.preToolUse(use);
  expect(JSON.parse(read("read"))).toEqual({
    session_id: "s",
    turn_id: "t",
    transcript_path: null,
    cwd: "/work",
    hook_event_name: "PreToolUse",
    model: "m",
    permission_mode: "default",
    tool_name: "Bash",
    tool_input: { command: "ls" },
    tool_use_id: "1",
  });
});

it("hooks in the background decide nothing, are limited, and end with the hooks", async () => {
  const slow = { command: "echo $$ >> $DIRECTORY/pids; sleep 60", async: true };
  const { hooks, reports, read, directory } = start(Array.from({ length: MAX_ASYNC + 2 }, () => slow));
  expect(await hooks.preToolUse(use)).toEqual({ kind: "continue", context: [] });
  expect(reports).toHaveLength(2);
  expect(reports[0]?.text).toContain("it was not run");
  const pids = () => (existsSync(join(directory, "pids")) ? read("pids").trim().split("\n").map(Number) : []);
  await expect.poll(() => pids().length).toBe(MAX_ASYNC);
  hooks.close();
  await expect.poll(() => pids().filter(isAlive)).toEqual([]);
  expect(reports).toHaveLength(2);
});

it("what a hook says for the model has a limit, and says what is left out", async () => {
  const { hooks } = start(["head -c 70000 /dev/zero | tr '\\0' x"], "SessionStart");
  const { context } = await hooks.sessionStart({ ...use, source: "startup" });
  expect(context[0]).toMatch(/^x{65536}\n\[4464 more characters of the hook are left out\]$/);
});

it("a hook may end a compaction, and is told when it is over", async () => {
  const { hooks, read } = start(
    ['cat > $DIRECTORY/read; echo \'{"continue":false,"stopReason":"keep it"}\''],
    "PreCompact",
  );
  expect(await hooks.preCompact({ ...use, trigger: "auto" })).toEqual({ stop: "keep it" });
  expect(JSON.parse(read("read"))).toEqual({
    session_id: "s",
    turn_id: "t",
    transcript_path: null,
    cwd: "/work",
    hook_event_name: "PreCompact",
    model: "m",
    trigger: "auto",
  });
  expect(await hooks.postCompact({ ...use, trigger: "auto" })).toEqual({});
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
