import type { ApprovalRequest, ToolCaller } from "@codex/orchestrator";

/** Where a tool of this package has the function that judges its calls. */
export const ASK: unique symbol = Symbol("codex approval");

/** A tool call that may have to be asked about. */
export interface ApprovalQuestion {
  toolName: string;
  toolCallId: string;
  input: unknown;
  /** The messages so far; those of a repeated question have it, with its answer. */
  messages: readonly unknown[];
}

/** How questions are asked. */
export interface ApprovalTerms {
  /** Called with everything that there is to show, when a call is asked about. */
  onRequest?: (request: ApprovalRequest, toolCallId: string) => void;
  /**
   * Approvals count although this process did not ask, such as after a restart. Only for messages that nobody else can write: with
   * `experimental_toolApprovalSecret`, or stored on the server. Default false: such a call is asked about by the approver of the
   * orchestrator, or denied.
   */
  trustsMessages?: boolean;
}

/** For `toolApproval` of `ai` 7. Tools of others are not its business. */
export type CodexApproval = (call: {
  toolCall: { toolName: string; toolCallId: string; input: unknown };
  tools: Readonly<Record<string, unknown>> | undefined;
  messages: readonly unknown[];
}) => Promise<{ type: "not-applicable" } | { type: "user-approval"; reason: string }>;

type Ask = (question: ApprovalQuestion, terms: ApprovalTerms) => ReturnType<CodexApproval>;

/** What a tool of this package has under `ASK`. */
export interface Asker {
  orchestrator: ToolCaller;
  ask: Ask;
}

/**
 * Asks the user of the AI SDK about the calls that the policy asks about. What runs then is what was asked about, once: an approval is
 * bound to the digest of the call. Calls that the policy allows or forbids are not asked about.
 * @param orchestrator the one of `codexTools`; tools of others are left alone
 */
export function codexApproval(orchestrator: ToolCaller, terms: ApprovalTerms = {}): CodexApproval {
  return async ({ toolCall: { toolName, toolCallId, input }, tools = {}, messages }) => {
    const ask = askOf(Object.hasOwn(tools, toolName) ? tools[toolName] : undefined, orchestrator);
    return ask === undefined ? { type: "not-applicable" } : ask({ toolName, toolCallId, input, messages }, terms);
  };
}

function askOf(tool: unknown, orchestrator: ToolCaller): Ask | undefined {
  if (typeof tool !== "object" || tool === null || !(ASK in tool)) return undefined;
  // `codexTools` has put it there.
  const own = tool[ASK] as Asker;
  return own.orchestrator === orchestrator ? own.ask : undefined;
}

/** Whether the messages have a question about this call already. */
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
