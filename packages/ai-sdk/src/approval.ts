import type { ApprovalRequest, ToolCaller } from "@codex/orchestrator";

/** Property under which a tool of this package keeps the function that judges its calls. */
export const ASK: unique symbol = Symbol("codex approval");

/** A tool call that may need approval. */
export interface ApprovalQuestion {
  toolName: string;
  toolCallId: string;
  input: unknown;
  /** The messages so far. If the question was asked before, they contain it and its answer. */
  messages: readonly unknown[];
}

/** Options of `codexApproval`. */
export interface ApprovalTerms {
  /** Called with the details to show a user, when a call needs approval. */
  onRequest?: (request: ApprovalRequest, toolCallId: string) => void;
  /**
   * Accepts approvals that another process asked for, such as before a restart. Only for messages that nobody else can write: signed
   * with `experimental_toolApprovalSecret`, or stored on the server. Default false: the orchestrator's approver is asked about such a
   * call, or it is denied.
   */
  trustsMessages?: boolean;
}

/** For `toolApproval` of `ai` 7. Tools of other packages are not affected. */
export type CodexApproval = (call: {
  toolCall: { toolName: string; toolCallId: string; input: unknown };
  tools: Readonly<Record<string, unknown>> | undefined;
  messages: readonly unknown[];
}) => Promise<{ type: "not-applicable" } | { type: "user-approval"; reason: string }>;

type Ask = (question: ApprovalQuestion, terms: ApprovalTerms) => ReturnType<CodexApproval>;

/** The value of a tool's `ASK` property. */
export interface Asker {
  orchestrator: ToolCaller;
  ask: Ask;
}

/**
 * Asks the user, through the AI SDK, about calls for which the policy requires approval. An approval is bound to the digest of the
 * call: exactly that call runs, once. No question is asked about calls that the policy allows or forbids.
 * @param orchestrator the same as for `codexTools`; tools of another orchestrator are not affected
 */
export function codexApproval(orchestrator: ToolCaller, terms: ApprovalTerms = {}): CodexApproval {
  return async ({ toolCall: { toolName, toolCallId, input }, tools = {}, messages }) => {
    const ask = askOf(Object.hasOwn(tools, toolName) ? tools[toolName] : undefined, orchestrator);
    return ask === undefined ? { type: "not-applicable" } : ask({ toolName, toolCallId, input, messages }, terms);
  };
}

function askOf(tool: unknown, orchestrator: ToolCaller): Ask | undefined {
  if (typeof tool !== "object" || tool === null || !(ASK in tool)) return undefined;
  // Set by `codexTools`.
  const own = tool[ASK] as Asker;
  return own.orchestrator === orchestrator ? own.ask : undefined;
}

/** Whether the messages already contain a question about this call. */
export const isRepeated = (toolCallId: string, messages: readonly unknown[]): boolean =>
  messages.some((message) => contentOf(message).some((part) => isQuestion(part, toolCallId)));

const contentOf = (message: unknown): readonly unknown[] =>
  typeof message === "object" && message !== null && "content" in message && Array.isArray(message.content)
    ? message.content
    : [];

const isQuestion = (part: unknown, toolCallId: string): boolean =>
  typeof part === "object" &&
  part !== null &&
  "type" in part &&
  part.type === "tool-approval-request" &&
  "toolCallId" in part &&
  part.toolCallId === toolCallId;
