import * as z from "zod/mini";
import { shorten } from "../live/text.js";
import type { Entity, ItemContent } from "../wire/entities.js";

const lineSchema = z.object({ type: z.string(), payload: z.looseObject({ type: z.optional(z.string()) }) });
const metaSchema = z.object({ id: z.string(), cwd: z.optional(z.string()) });
const messageSchema = z.object({ role: z.string(), content: z.array(z.looseObject({ text: z.optional(z.string()) })) });
const reasoningSchema = z.object({ summary: z.array(z.looseObject({ text: z.optional(z.string()) })) });
const callSchema = z.object({
  call_id: z.string(),
  name: z.string(),
  arguments: z.optional(z.string()),
  input: z.optional(z.string()),
});
const outputSchema = z.object({ call_id: z.string(), output: z.unknown() });
const execSchema = z.object({ cmd: z.string(), workdir: z.optional(z.string()) });

/** The conversation of a thread file, from its lines. Unknown items are omitted. */
export function readThread(lines: readonly unknown[]): Entity[] {
  const items = new Map<string, ItemContent>();
  let threadId: string | undefined;
  let cwd: string | undefined;
  let model: string | undefined;
  for (const [at, line] of lines.entries()) {
    const parsed = lineSchema.safeParse(line);
    if (!parsed.success) continue;
    const { type, payload } = parsed.data;
    if (type === "session_meta") {
      const meta = metaSchema.safeParse(payload);
      if (meta.success) ({ id: threadId, cwd } = { cwd: undefined, ...meta.data });
    } else if (type === "turn_context" && typeof payload.model === "string") model = payload.model;
    else if (type === "response_item") addItem(items, `line ${at}`, payload, cwd);
  }
  const thread = { kind: "thread", id: "thread", threadId, model, state: "ended", reason: "a replay" } as const;
  return [thread, ...[...items].map(([id, content], order) => ({ kind: "item", id, order, content }) as const)];
}

function addItem(items: Map<string, ItemContent>, id: string, payload: { type?: string | undefined }, cwd?: string) {
  switch (payload.type) {
    case "message": {
      const message = messageSchema.safeParse(payload);
      if (!message.success) return;
      const { role, content } = message.data;
      const text = content.map(({ text: part = "" }) => part).join("");
      const isContext = role !== "assistant" && (role !== "user" || /^(<|# AGENTS\.md)/.test(text));
      if (text !== "" && !isContext)
        items.set(id, { type: role === "user" ? "prompt" : "message", text: shorten(text) });
      return;
    }
    case "reasoning": {
      const reasoning = reasoningSchema.safeParse(payload);
      const text = reasoning.success ? reasoning.data.summary.map(({ text: part = "" }) => part).join("\n") : "";
      if (text !== "") items.set(id, { type: "reasoning", text: shorten(text) });
      return;
    }
    case "function_call":
    case "custom_tool_call": {
      const call = callSchema.safeParse(payload);
      if (call.success) items.set(`call ${call.data.call_id}`, describeCall(call.data, cwd));
      return;
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const output = outputSchema.safeParse(payload);
      if (output.success) addOutput(items, `call ${output.data.call_id}`, textOf(output.data.output));
    }
  }
}

function describeCall(
  { name, arguments: args = "", input = args }: z.infer<typeof callSchema>,
  cwd?: string,
): ItemContent {
  const exec = name === "exec_command" ? execSchema.safeParse(parse(args)) : undefined;
  if (exec?.success !== true) return { type: "tool", name, input: shorten(input), output: "", status: "" };
  const { cmd, workdir = cwd } = exec.data;
  return {
    ...{ type: "command", command: shorten(cmd), cwd: workdir },
    ...{ tail: "", status: "completed", outcome: "", omitted: [] },
  };
}

function addOutput(items: Map<string, ItemContent>, id: string, text: string): void {
  const call = items.get(id);
  if (call?.type === "tool") items.set(id, { ...call, output: shorten(text) });
  if (call?.type !== "command") return;
  const code = /^Process exited with code (-?\d+)$/m.exec(text)?.[1];
  const status = code === undefined || code === "0" ? "completed" : "failed";
  items.set(id, { ...call, tail: shorten(text), status, outcome: code === undefined ? "" : `exit code ${code}` });
}

const textOf = (output: unknown): string => (typeof output === "string" ? output : JSON.stringify(output ?? ""));

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
