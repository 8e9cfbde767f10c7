import { AskedCalls, type LiveOutput, SessionGroup, type ToolCaller } from "@codex/orchestrator";
import { type FunctionTool, type RunContext, tool } from "@openai/agents";

/** How the tools behave. */
export interface CodexToolsOptions {
  /** Called with the output of calls as it arrives, in order. A promise it returns holds the program back until it settles. */
  onOutput?: (output: LiveOutput & { callId: string }) => unknown;
  /**
   * Who is asked about what the policy asks about. `interrupt`: the run stops with an interruption, to be approved or rejected.
   * `approver`: that of the orchestrator, while the call waits. Default `interrupt`.
   */
  approvals?: "interrupt" | "approver";
}

interface ObjectSchema {
  type: "object";
  properties: Record<string, Record<string, unknown>>;
  required: string[];
  additionalProperties: true;
}

/** Methods of the list that are no part of it. */
export interface CodexTools extends Array<FunctionTool> {
  /** Ends the sessions that calls of these tools have left running. */
  dispose(): Promise<void>;
  /** `dispose`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The tools of an orchestrator as they are now, for an `Agent`. What was approved runs as it was asked about, once; an approval for all calls
 * of a tool (`alwaysApprove`) is none for those that were not asked about.
 */
export function codexTools(orchestrator: ToolCaller, options: CodexToolsOptions = {}): CodexTools {
  const { onOutput, approvals = "interrupt" } = options;
  const asked = new AskedCalls();
  const sessions = new SessionGroup(orchestrator);
  const tools = orchestrator.listTools().map(({ name, description, inputSchema }) =>
    tool({
      name,
      description,
      // A JSON schema of an object, as tools of models have it.
      parameters: inputSchema as unknown as ObjectSchema,
      strict: false,
      // The model reads refusals as they are; what else is thrown is a failure of the program.
      errorFunction: null,
      needsApproval: async (context: RunContext, input: unknown, callId?: string) => {
        if (approvals === "approver") return false;
        const judged = await orchestrator.judge(name, input);
        if (judged.kind !== "ask") return false;
        // Asked again on the way back, with its answer: that is about what was asked first.
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
        const { text } = await sessions.callTool(name, input, {
          ...granted,
          ...(details?.signal === undefined ? {} : { signal: details.signal }),
          onOutput: (output) => onOutput?.({ ...output, callId }),
        });
        return text;
      },
    }),
  );
  /** An approval of this very call, which another process may have asked about: `RunState` carries it. */
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
  // Both methods were just defined.
  return tools as unknown as CodexTools;
}

/** Whether this call was approved, and not all calls of its tool. */
const isApprovedAlone = (context: RunContext, callId: string): boolean =>
  Object.values(context.toJSON().approvals).some(
    ({ approved }) => Array.isArray(approved) && approved.includes(callId),
  );
