import { type AgentEvent, NO_USAGE, type ThreadItem } from "@codex/agent";
import { renderExecJson } from "@codex/agent-terminal";
import { describe, expect, it } from "vitest";

const COMMAND: ThreadItem = {
  id: "item_1",
  status: "in_progress",
  kind: "command",
  callId: "c1",
  command: "ls",
  shownCommand: "/bin/bash -lc ls",
  cwd: "/w",
  environment: undefined,
  output: "",
  outputBytes: 0,
  exitCode: undefined,
  outcome: undefined,
};
const lineOf = (event: AgentEvent, deltas = false) =>
  renderExecJson(event, { deltas }).map((line) => JSON.stringify(line));

describe("renderExecJson", () => {
  it("gives the lines that the SDK reads", () => {
    const usage = { ...NO_USAGE, inputTokens: 30, outputTokens: 15 };
    const lines = [
      { type: "thread_started", threadId: "t", resumed: false },
      { type: "turn_started", turnId: "1" },
      { type: "item_started", item: COMMAND },
      { type: "item_completed", item: { id: "item_2", status: "completed", kind: "message", text: "done" } },
      { type: "turn_completed", usage, turnUsage: usage },
    ] satisfies AgentEvent[];
    expect(lines.flatMap((event) => lineOf(event))).toEqual([
      '{"type":"thread.started","thread_id":"t"}',
      '{"type":"turn.started"}',
      '{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}',
      '{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"done"}}',
      '{"type":"turn.completed","usage":{"input_tokens":30,"cached_input_tokens":0,"cache_write_input_tokens":0,"output_tokens":15,"reasoning_output_tokens":0}}',
    ]);
  });

  it("ends a failed turn with one end, and an error before it", () => {
    const event: AgentEvent = {
      type: "turn_failed",
      error: { code: "timeout", message: "too long" },
      usage: NO_USAGE,
      turnUsage: NO_USAGE,
    };
    expect(lineOf(event)).toEqual([
      '{"type":"error","message":"too long"}',
      '{"type":"turn.failed","error":{"message":"too long","code":"timeout"}}',
    ]);
  });

  it("tells of a repetition as an error, and of deltas only where they are asked for", () => {
    const retry: AgentEvent = { type: "retry", message: "Reconnecting... 1/5 (x)", discarded: ["item_0"] };
    expect(lineOf(retry)).toEqual(['{"type":"error","message":"Reconnecting... 1/5 (x)"}']);
    const delta: AgentEvent = { type: "item_delta", itemId: "item_0", of: "text", text: "He" };
    expect(lineOf(delta)).toEqual([]);
    expect(lineOf(delta, true)).toEqual(['{"type":"item.delta","item_id":"item_0","of":"text","delta":"He"}']);
  });

  it("sorts the files of a change, and knows plans, MCP tools and warnings", () => {
    const items: ThreadItem[] = [
      {
        id: "i",
        status: "completed",
        kind: "file_change",
        environment: undefined,
        changes: [
          { path: "/b", change: "update" },
          { path: "/a", change: "add" },
        ],
      },
      { id: "i", status: "completed", kind: "plan", steps: [{ text: "one", status: "completed" }] },
      {
        id: "i",
        status: "declined",
        kind: "tool_call",
        callId: "c",
        name: "mcp__my_server__do__it",
        input: '{"a":1}',
        output: "no",
        environment: "build",
      },
      { id: "i", status: "completed", kind: "warning", message: "careful" },
    ];
    expect(items.flatMap((item) => renderExecJson({ type: "item_completed", item }).map((line) => line.item))).toEqual([
      {
        id: "i",
        type: "file_change",
        changes: [
          { path: "/a", kind: "add" },
          { path: "/b", kind: "update" },
        ],
        status: "completed",
      },
      { id: "i", type: "todo_list", items: [{ text: "one", completed: true }] },
      {
        id: "i",
        type: "mcp_tool_call",
        server: "my_server",
        tool: "do__it",
        arguments: { a: 1 },
        result: null,
        error: { message: "no" },
        status: "failed",
        environment: "build",
      },
      { id: "i", type: "error", message: "careful" },
    ]);
  });
});
