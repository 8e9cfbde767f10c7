import type { HookSubject, ToolHooks } from "@codex/hooks";
import type { ApprovalPolicy } from "@codex/policy";

/** Who makes a call, for hooks. */
export interface HookCaller {
  /** Default: one of the orchestrator. */
  readonly sessionId?: string;
  /** Default: one for each call. */
  readonly turnId?: string;
  /** Default: a unique one. */
  readonly callId?: string;
  /** The file that the conversation is saved in; default null. */
  readonly transcriptPath?: string | null;
  /** Default: empty. */
  readonly model?: string;
}

/** Where a call is made, and by whom. */
interface HookedPlace {
  readonly environment: string;
  readonly caller: HookCaller | undefined;
  /** Absolute, on the executor's host. */
  readonly cwd: string;
}

/** The hooks of an orchestrator, and what they read of each call. */
export interface OrchestratorHooks {
  readonly tools: ToolHooks;
  describe(place: HookedPlace): HookSubject;
  /** Creates the id of a call that has none. */
  readonly newId: () => string;
}

/** @param policyOf that of an environment */
export function createOrchestratorHooks(
  tools: ToolHooks | undefined,
  policyOf: (environment: string) => ApprovalPolicy,
  newId: () => string,
): OrchestratorHooks | undefined {
  if (tools === undefined) return undefined;
  const ownSession = newId();
  const describe = ({ environment, caller = {}, cwd }: HookedPlace): HookSubject => {
    const { sessionId = ownSession, turnId = newId(), transcriptPath = null, model = "" } = caller;
    const permissionMode = policyOf(environment) === "never" ? "bypassPermissions" : "default";
    return { sessionId, turnId, transcriptPath, cwd, model, permissionMode };
  };
  return { tools, describe, newId };
}
