import type { ThreadLine } from "@codex/agent/node";
import { readThreadReport, renderThreadReport } from "@codex/agent-terminal";
import { describe, expect, it } from "vitest";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const line = (second: number, type: string, payload: object): ThreadLine => ({
  timestamp: at(second),
  type,
  payload: payload as ThreadLine["payload"],
});
const item = (second: number, payload: object) => line(second, "response_item", payload);
const user = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const assistant = (text: string) => ({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
const call = (id: string, cmd: string) => ({
  type: "function_call",
  call_id: id,
  name: "exec_command",
  arguments: JSON.stringify({ cmd }),
});
const answer = (id: string, output: string) => ({ type: "function_call_output", call_id: id, output });
const meta = {
  id: "019f8a94-3df8-7351-ad7a-e2aa42eea02c",
  timestamp: at(0),
  cwd: "/w",
  originator: "codex-ts",
  cli_version: "1",
  source: "cli",
  model_provider: "mine",
};

async function* from(lines: readonly ThreadLine[]) {
  yield* lines;
}
const usage = (input: number, cached: number, output: number) => ({
  inputTokens: input,
  cachedInputTokens: cached,
  cacheWriteInputTokens: 0,
  outputTokens: output,
  reasoningOutputTokens: 0,
  totalTokens: input + output,
});

const OWN = [
  line(0, "session_meta", meta),
  line(1, "turn_started", { turnId: "t1", model: "m", cwd: "/w", environment: "far" }),
  item(1, user("<environment_context>…")),
  item(1, user("make it green")),
  item(2, call("c1", "make test")),
  line(2, "call_started", { callId: "c1", name: "exec_command", environment: "far" }),
  line(4, "call_finished", { callId: "c1", wallMs: 1900, decidedBy: "rule", rule: "prefix make" }),
  item(
    4,
    answer("c1", "Process exited with code 0\nOutput:\nWarning: truncated output (original token count: 9000)\n"),
  ),
  line(4, "usage", { turnId: "t1", usage: usage(100, 10, 20) }),
  item(5, assistant("done")),
  line(5, "usage", { turnId: "t1", usage: usage(200, 150, 5) }),
  line(5, "turn_ended", { turnId: "t1", outcome: "completed", wallMs: 4000 }),
  line(6, "turn_started", { turnId: "t2", model: "m", cwd: "/w", environment: "far" }),
  line(6, "compacted", { replacement_history: [], tokens_before: 225 }),
  item(6, user("again")),
  item(7, call("c2", "sleep 100")),
  line(7, "call_started", { callId: "c2", name: "exec_command", environment: "far" }),
];

describe("the report of a thread", () => {
  it("names a tool with the server that it is of", async () => {
    const foreign = { ...call("c1", "x"), namespace: "mcp__far" };
    const own = { ...call("c2", "y"), namespace: "functions" };
    const report = await readThreadReport(from([line(0, "session_meta", meta), item(1, foreign), item(1, own)]));
    const calls = report.turns.flatMap(({ responses }) => responses).flatMap((response) => response.calls);
    expect(calls.map(({ name }) => name)).toEqual(["mcp__far__exec_command", "exec_command"]);
  });

  it("has tokens and time of each turn, response and call, where they ran, and what was cut", async () => {
    const report = await readThreadReport(from(OWN));
    expect(report.turns).toMatchObject([
      {
        turnId: "t1",
        prompt: "make it green",
        outcome: "completed",
        wallMs: 4000,
        environment: "far",
        usage: usage(300, 160, 25),
        responses: [
          {
            usage: usage(100, 10, 20),
            calls: [{ callId: "c1", environment: "far", wallMs: 1900, rule: "prefix make" }],
          },
          { usage: usage(200, 150, 5), calls: [] },
        ],
        cuts: [{ what: "output", callId: "c1", tokensBefore: 9000 }],
      },
      {
        turnId: "t2",
        prompt: "again",
        outcome: "unknown",
        wallMs: undefined,
        responses: [{ usage: undefined, calls: [{ callId: "c2", wallMs: undefined, outputBytes: undefined }] }],
        cuts: [{ what: "history", tokensBefore: 225 }],
      },
    ]);
    expect([report.wallMs, report.usage.totalTokens]).toEqual([4000, 325]);
    expect(renderThreadReport(meta, report)).toMatch(
      /make test \(on far, 1\.9 s, .*, decided by rule, rule prefix make\)/,
    );
  });

  it("reads what Codex writes", async () => {
    const tokens = { input_tokens: 7, cached_input_tokens: 3, output_tokens: 2, total_tokens: 9 };
    const report = await readThreadReport(
      from([
        line(0, "session_meta", meta),
        line(1, "event_msg", { type: "task_started", turn_id: "t1" }),
        item(1, user("<environment_context>…")),
        line(1, "turn_context", { turn_id: "t1", model: "gpt-5.5", cwd: "/w" }),
        item(1, user("go")),
        item(2, call("c1", "ls")),
        line(2, "token_usage_record", { usage: tokens }),
        line(2, "event_msg", { type: "token_count", info: { last_token_usage: tokens, total_token_usage: tokens } }),
        item(3, answer("c1", "Output:\n")),
        line(3, "event_msg", { type: "task_complete", turn_id: "t1", duration_ms: 147 }),
        line(4, "turn_context", { turn_id: "t2", model: "other", cwd: "/w" }),
        item(4, user("stop")),
        line(5, "event_msg", { type: "turn_aborted", reason: "interrupted" }),
      ]),
    );
    expect(report.turns).toMatchObject([
      { prompt: "go", model: "gpt-5.5", outcome: "completed", wallMs: 147, responses: [{ calls: [{ wallMs: 1000 }] }] },
      { prompt: "stop", model: "other", outcome: "interrupted", responses: [] },
    ]);
    expect(report.usage).toMatchObject({ inputTokens: 7, cachedInputTokens: 3, outputTokens: 2 });
  });

  it("counts the tokens of older files of Codex, where a count may be repeated", async () => {
    const count = (total: number) =>
      line(1, "event_msg", {
        type: "token_count",
        info: { last_token_usage: { input_tokens: 5 }, total_token_usage: { total_tokens: total } },
      });
    const { usage } = await readThreadReport(
      from([line(0, "session_meta", meta), item(0, user("go")), count(5), count(5), count(10)]),
    );
    expect(usage.inputTokens).toBe(10);
  });

  it("makes turns of a file that has messages alone", async () => {
    const items = [user("one"), assistant("1"), user("two"), call("c1", "ls"), answer("c1", "x"), assistant("2")];
    const { turns } = await readThreadReport(from(items.map((each, index) => item(index, each))));
    expect(turns.map(({ prompt, responses }) => [prompt, responses.flatMap(({ calls }) => calls).length])).toEqual([
      ["one", 0],
      ["two", 1],
    ]);
  });

  it("is text that cannot act on a terminal", async () => {
    const hostile = "a\u001b]0;title\u0007\u202eb\nnext";
    const lines = [item(0, user(hostile)), item(1, call("c1", `echo ${hostile}`)), item(2, answer("c1", ""))];
    const text = renderThreadReport({ ...meta, cwd: hostile }, await readThreadReport(from(lines)));
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(text).toContain("echo a\\u001b]0;title");
  });
});
