import type { Reply } from "@codex/model/testing";

/** A call as these endpoints name it. */
export const CALL = { id: "c1", name: "exec_command", input: '{"cmd":"echo marked"}' };

const events = (list: readonly object[]): Reply => ({
  headers: { "content-type": "text/event-stream" },
  body: list.map((each) => `${"type" in each ? `event: ${String(each.type)}\n` : ""}data: ${JSON.stringify(each)}\n\n`),
});

/** A response of the Messages API: thinking, a text, and a call where there is one. */
export function anthropic(text: string, call?: typeof CALL): Reply {
  const block = (index: number, start: object, ...deltas: object[]) => [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 0 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], usage };
  return events([
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    ...block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Hm." },
      { type: "signature_delta", signature: "signed" },
    ),
    ...block(1, { type: "text", text: "" }, { type: "text_delta", text }),
    ...(call === undefined
      ? []
      : block(
          2,
          { type: "tool_use", id: call.id, name: call.name, input: {} },
          { type: "input_json_delta", partial_json: call.input },
        )),
    {
      type: "message_delta",
      delta: { stop_reason: call === undefined ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: "message_stop" },
  ]);
}

/** A response of a chat endpoint: a text, and a call where there is one. */
export function chat(text: string, call?: typeof CALL): Reply {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: "chat_1",
    object: "chat.completion.chunk",
    created: 1,
    model: "chat",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const calls = call && [
    { index: 0, id: call.id, type: "function", function: { name: call.name, arguments: call.input } },
  ];
  const reply = events([
    chunk({ role: "assistant", content: text }),
    ...(calls === undefined ? [] : [chunk({ tool_calls: calls })]),
    {
      ...chunk({}, calls === undefined ? "stop" : "tool_calls"),
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    },
  ]);
  return { ...reply, body: [...reply.body, "data: [DONE]\n\n"] };
}
