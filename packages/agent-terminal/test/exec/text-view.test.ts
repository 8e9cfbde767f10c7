import type { AgentEvent, CommandDetails, ThreadItem } from "@codex/agent";
import { NO_USAGE } from "@codex/agent";
import { createTextView } from "@codex/agent-terminal";
import { expect, it } from "vitest";

function collect(shared = false) {
  const texts = { log: "", result: "" };
  const sink = (name: keyof typeof texts) => ({
    closed: new AbortController().signal,
    async write(text: string) {
      texts[name] += text;
    },
  });
  const options = { log: sink("log"), result: sink("result"), shared, clock: { now: () => 0 } };
  const view = createTextView({ ...options, paint: (_style, text) => text });
  const show = async (...events: AgentEvent[]) => {
    for (const event of events) await view.show(event);
    return texts;
  };
  return { show, texts };
}

const message = (text: string, id = "item_0"): AgentEvent => ({
  type: "item_completed",
  item: { id, status: "completed", kind: "message", text },
});
const done: AgentEvent = {
  type: "turn_completed",
  usage: NO_USAGE,
  turnUsage: { ...NO_USAGE, inputTokens: 5, outputTokens: 2 },
};

function command(details: Partial<CommandDetails> & Pick<ThreadItem, "status">): ThreadItem {
  const shown = {
    callId: "c",
    command: "make",
    shownCommand: "make",
    cwd: "/w",
    environment: "local",
    output: "",
    outputBytes: 0,
  };
  return { id: "item_1", kind: "command", ...shown, exitCode: undefined, outcome: undefined, ...details };
}

it("puts the last message on stdout, and every message into the log", async () => {
  const { log, result } = await collect().show(message("one"), message("two"), done);
  expect(result).toBe("two\n");
  expect(log).toContain("one");
  expect(log).toContain("two");
  expect(log).toMatch(/tokens used\n7\n$/);
});

it("says the last message once where both go to one terminal", async () => {
  const { log, result } = await collect(true).show(message("one"), message("two"), done);
  expect([log.includes("one"), log.includes("two"), result]).toEqual([true, false, "two\n"]);
});

it("puts nothing on stdout for a turn that failed", async () => {
  const error = { code: "interrupted", message: "the user ended it" };
  const { log, result } = await collect().show(message("one"), {
    type: "turn_failed",
    error,
    usage: NO_USAGE,
    turnUsage: NO_USAGE,
  });
  expect(result).toBe("");
  expect(log).toContain("error: the user ended it");
});

it.each<[string, Partial<CommandDetails>, RegExp]>([
  ["an exit code", { outcome: { kind: "exited", code: 3 }, exitCode: 3 }, /exited with 3/],
  [
    "a program that was refused",
    {
      outcome: { kind: "exited", code: 126 },
      exitCode: 126,
      programs: [
        { program: "/usr/bin/git", argv: ["git", "push"], decision: "refused", reason: "rule", rule: "r:1", times: 1 },
      ],
    },
    /exited with 126[\s\S]*\nRefused: git push \(rule r:1\)/,
  ],
  ["success", { outcome: { kind: "exited", code: 0 }, exitCode: 0 }, / succeeded in \d+ ms\n/],
  ["a signal", { outcome: { kind: "signaled", signal: "SIGKILL", by: "terminate" } }, /ended by SIGKILL/],
  ["a command that still runs", { outcome: { kind: "running" }, sessionId: 7 }, /still running as session 7/],
  ["one that was lost", { outcome: { kind: "lost", reason: "cut", lastSeq: 1 } }, /lost: cut/],
  ["a refusal", { decision: { kind: "forbidden", reason: "a rule" } }, / forbidden: a rule\n/],
  ["what did not start", { outcome: { kind: "failed_to_start", reason: "gone" } }, / did not start: gone\n/],
])("tells %s", async (_name, details, expected) => {
  const started = command({ status: "in_progress" });
  const item = command({ status: "failed", ...details });
  const { log } = await collect().show({ type: "item_started", item: started }, { type: "item_completed", item });
  expect(log).toMatch(/^exec make in \/w on local\n/);
  expect(log).toMatch(expected);
});

it("says which of several commands has ended", async () => {
  const one = command({ status: "in_progress" });
  const other = { ...command({ status: "in_progress", command: "ls" }), id: "item_2" };
  const ended = { ...other, status: "completed" as const, exitCode: 0 };
  const { log } = await collect().show(
    { type: "item_started", item: one },
    { type: "item_started", item: other },
    { type: "item_completed", item: ended },
  );
  expect(log).toMatch(/ ls: succeeded/);
});

it("shows control characters and those that reorder text as escapes", async () => {
  const output = "a\u001b]0;title\u0007\u202eb\tc\r\nd";
  const item = command({ status: "completed", exitCode: 0, output });
  const { log } = await collect().show({ type: "item_completed", item });
  expect(log).toContain("a\\u001b]0;title\\u0007\\u202eb\tc\nd");
});
