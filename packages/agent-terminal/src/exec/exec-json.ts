import type { AgentEvent, CommandDetails, ItemStatus, ThreadItem, ToolCallDetails, Usage } from "@codex/agent";
import { defined } from "@codex/values";

/** A line of `codex exec --json`, in the format of the TypeScript SDK. */
export interface ExecJsonEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Options of {@link renderExecJson}. */
export interface ExecJsonOptions {
  /** Emit text and output incrementally as `item.delta`; default false. */
  readonly deltas?: boolean;
}

/** Converts an event to lines, mostly one, sometimes none. Pure. */
export function renderExecJson(event: AgentEvent, { deltas = false }: ExecJsonOptions = {}): ExecJsonEvent[] {
  switch (event.type) {
    case "thread_started":
      return [{ type: "thread.started", thread_id: event.threadId }];
    case "turn_started":
      return [{ type: "turn.started" }];
    case "item_started":
    case "item_updated":
    case "item_completed":
      return [{ type: event.type.replace("_", "."), item: renderItem(event.item) }];
    case "item_delta":
      return deltas ? [{ type: "item.delta", item_id: event.itemId, of: event.of, delta: event.text }] : [];
    case "retry": {
      const discarded = deltas && event.discarded.length > 0 ? { discarded: event.discarded } : {};
      return [{ type: "error", message: event.message, ...discarded }];
    }
    case "turn_completed":
      return [{ type: "turn.completed", usage: renderUsage(event.usage) }];
    case "turn_failed": {
      const { code, message } = event.error;
      return [
        { type: "error", message },
        { type: "turn.failed", error: { message, code } },
      ];
    }
    case "request_started":
    case "response_completed":
      return [];
  }
}

const renderUsage = (usage: Usage) => ({
  input_tokens: usage.inputTokens,
  cached_input_tokens: usage.cachedInputTokens,
  cache_write_input_tokens: usage.cacheWriteInputTokens,
  output_tokens: usage.outputTokens,
  reasoning_output_tokens: usage.reasoningOutputTokens,
});

function renderItem(item: ThreadItem): Record<string, unknown> {
  const { id, status } = item;
  switch (item.kind) {
    case "message":
      return { id, type: "agent_message", text: item.text, ...(item.refusal === true ? { refusal: true } : {}) };
    case "reasoning":
      return { id, type: "reasoning", text: item.text };
    case "command":
      return { id, type: "command_execution", ...renderCommand(item, status) };
    case "file_change": {
      const changes = item.changes.map(({ path, change, movedFrom }) => ({
        path,
        kind: change,
        ...defined({ moved_from: movedFrom }),
      }));
      const sorted = changes.toSorted((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));
      return { id, type: "file_change", changes: sorted, status, ...environmentOf(item), ...decisionOf(item, status) };
    }
    case "plan": {
      const steps = item.steps.map((step) => ({ text: step.text, completed: step.status === "completed" }));
      return { id, type: "todo_list", items: steps };
    }
    case "image":
      return { id, type: "image_view", path: item.path, status, ...environmentOf(item) };
    case "tool_call":
      return renderToolCall(id, item, status);
    case "compaction":
      return { id, type: "compaction", tokens_before: item.tokensBefore, summary: item.summary, status };
    case "warning":
      return { id, type: "error", message: item.message };
  }
}

const environmentOf = ({ environment }: { environment: string | undefined }) =>
  environment === undefined ? {} : { environment };

type DecisionDetails = Pick<CommandDetails, "decidedBy" | "rule" | "decision">;

/** Describes the decision about a call; empty while undecided. */
function decisionOf({ decidedBy: by, rule, decision }: DecisionDetails, status: ItemStatus) {
  if (by === undefined && decision === undefined) return {};
  const kind = status === "declined" ? "denied" : "allowed";
  return {
    decision: { ...(decision ?? { kind }), ...defined({ by }) },
    ...defined({ rule }),
  };
}

function renderCommand(item: CommandDetails, status: ItemStatus): Record<string, unknown> {
  const { shownCommand, output, exitCode, outcome, outputBytes, sessionId, sandboxDenial } = item;
  return {
    command: shownCommand,
    aggregated_output: output,
    exit_code: exitCode ?? null,
    status,
    ...environmentOf(item),
    ...(outcome === undefined ? {} : { outcome, range: { from: 0, to: outputBytes } }),
    ...defined({ session_id: sessionId }),
    ...decisionOf(item, status),
    ...defined({ sandbox_denial: sandboxDenial }),
  };
}

function renderToolCall(id: string, item: ToolCallDetails, status: ItemStatus): Record<string, unknown> {
  const { name, input, output } = item;
  const [, server, tool] = /^mcp__([^_](?:[^_]|_(?!_))*)__(.+)$/.exec(name) ?? [];
  if (server === undefined || tool === undefined) {
    return {
      id,
      type: "tool_call",
      name,
      input,
      output: output ?? null,
      status,
      ...environmentOf(item),
      ...decisionOf(item, status),
    };
  }
  const hasFailed = status === "failed" || status === "declined";
  const isOver = status !== "in_progress";
  const { content = [{ type: "text", text: output ?? "" }], structuredContent = null } = item;
  return {
    id,
    type: "mcp_tool_call",
    server,
    tool,
    arguments: parseArguments(input) ?? input,
    result: isOver && !hasFailed ? { content, structured_content: structuredContent } : null,
    error: hasFailed ? { message: output ?? "" } : null,
    status: hasFailed ? "failed" : status,
    ...environmentOf(item),
    ...decisionOf(item, status),
  };
}

/** Parses arguments; undefined unless they are a JSON object. */
function parseArguments(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
