import {
  AskedCalls,
  type LiveOutput,
  type NamedToolResult,
  nameResult,
  SessionGroup,
  type ToolCaller,
  type ToolCallResult,
} from "@codex/orchestrator";
import { type FunctionTool, type RunContext, tool } from "@openai/agents";

/** Options of `codexTools`. */
export interface CodexToolsOptions {
  /** Called with the output of calls as it arrives, in order. If it returns a promise, the program is paused until that settles. */
  onOutput?: (output: LiveOutput & { callId: string }) => unknown;
  /** Called with the result of each call, as data: `tool` tells what `result.structured` is. The model reads `result.text`. */
  onResult?: (called: NamedToolResult & { callId: string }) => void;
  /**
   * What happens when the policy requires approval. `interrupt` (default): the run stops with an interruption, to be approved or
   * rejected. `approver`: the call waits for the orchestrator's approver.
   */
  approvals?: "interrupt" | "approver";
}

interface ObjectSchema {
  type: "object";
  properties: Record<string, Record<string, unknown>>;
  required: string[];
  additionalProperties: true;
}

/** The list of tools, with methods that end their sessions. */
export interface CodexTools extends Array<FunctionTool> {
  /** Ends the sessions that calls of these tools left running. */
  dispose(): Promise<void>;
  /** Same as `dispose`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The text for the model, and its pictures. */
function withImages({ text, ...result }: ToolCallResult) {
  const images = ("images" in result ? result.images : undefined) ?? [];
  if (images.length === 0) return text;
  return [
    { type: "text" as const, text },
    ...images.map(({ mediaType, data }) => ({ type: "image" as const, image: { data, mediaType } })),
  ];
}

/**
 * The current tools of an orchestrator, for an `Agent`. An approval is for exactly the call that was shown, once; an approval for all
 * calls of a tool (`alwaysApprove`) does not include calls that were never shown.
 */
export function codexTools(orchestrator: ToolCaller, options: CodexToolsOptions = {}): CodexTools {
  const { onOutput, onResult, approvals = "interrupt" } = options;
  const asked = new AskedCalls();
  const sessions = new SessionGroup(orchestrator);
  const tools = orchestrator.listTools().map(({ name, description, inputSchema }) =>
    tool({
      name,
      description,
      // A JSON schema of an object, as for every tool of a model.
      parameters: inputSchema as unknown as ObjectSchema,
      strict: false,
      // Refusals are results that the model reads; anything thrown is a failure of the program.
      errorFunction: null,
      needsApproval: async (context: RunContext, input: unknown, callId?: string) => {
        if (approvals === "approver") return false;
        const judged = await orchestrator.judge(name, input);
        if (judged.kind !== "ask") return false;
        // Called again once the user has answered: the answer is about the call as it was first shown.
        const isAnswered = callId !== undefined && context.isToolApproved({ toolName: name, callId }) !== undefined;
        if (callId !== undefined && !isAnswered) asked.add(callId, judged.digest);
        return true;
      },
      async execute(
        input: unknown,
        context?: RunContext,
        details?: { toolCall?: { callId: string }; signal?: AbortSignal },
      ) {
        const callId = details?.toolCall?.callId ?? "";
        const granted = context === undefined ? {} : await grantOf(name, input, callId, context);
        const result = await sessions.callTool(name, input, {
          ...granted,
          ...(details?.signal === undefined ? {} : { signal: details.signal }),
          onOutput: (output) => onOutput?.({ ...output, callId }),
        });
        onResult?.({ ...nameResult(name, result), callId });
        return withImages(result);
      },
    }),
  );
  /** The approval of this call. `RunState` may carry it from another process. */
  async function grantOf(name: string, input: unknown, callId: string, context: RunContext) {
    if (context.isToolApproved({ toolName: name, callId }) !== true) return {};
    if (!asked.has(callId) && isApprovedAlone(context, callId)) {
      const judged = await orchestrator.judge(name, input);
      if (judged.kind === "ask") asked.add(callId, judged.digest);
    }
    return asked.grant(callId) ?? {};
  }
  const dispose = () => sessions.close();
  for (const key of ["dispose", Symbol.asyncDispose]) Object.defineProperty(tools, key, { value: dispose });
  // Both methods are defined above.
  return tools as unknown as CodexTools;
}

/** Whether this call itself was approved, rather than all calls of its tool. */
const isApprovedAlone = (context: RunContext, callId: string): boolean =>
  Object.values(context.toJSON().approvals).some(
    ({ approved }) => Array.isArray(approved) && approved.includes(callId),
  );
