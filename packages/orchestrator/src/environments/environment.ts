import type { PolicyOptions } from "@codex/policy";
import type { Approver } from "../approvals/approver.js";
import type { AttachedExecutor, AttachOptions } from "../executors/attached-executor.js";

/** Where executors are attached. */
export interface ExecutorAttachment {
  /** @throws OrchestratorError */
  attach(options: AttachOptions): Promise<AttachedExecutor>;
}

/** A named place whose executor is attached when a call first needs it, such as an `Environment` of `@codex/environments`. */
export interface AttachableEnvironment {
  /** 1 to 64 letters, digits and `_.-`: what models call it. */
  readonly id: string;
  /** Of its connection. The reason is shown to models: without user, password and query of a URL. */
  readonly state?: { readonly status: string; readonly reason?: string | undefined };
  /**
   * Attaches an executor under its id. Called at most once at a time, and again when that executor is offline. Rejects where
   * it cannot: nothing is run then.
   */
  attach(orchestrator: ExecutorAttachment, options: { signal: AbortSignal }): Promise<unknown>;
}

/** What only the program decides about an environment, never a model. */
export interface EnvironmentOptions {
  /** Instead of the orchestrator's, for commands there. */
  policy?: PolicyOptions;
  /** Instead of the orchestrator's. */
  approver?: Approver;
  /**
   * Where calls run while this environment cannot be used. Their results say so. Default: nowhere. Not for calls that name a
   * session, nor where a selection leaves the other one out.
   */
  fallback?: string;
}

/** An environment as a model should know it. What is not known before it is connected is left out. */
export interface EnvironmentDescription {
  id: string;
  /** Gets calls that name none. */
  primary: boolean;
  /** `ready`, `reconnecting`, `failed`, `disconnected`, `connecting`, or what the environment says. */
  status: string;
  /** Why it is not ready, without user, password and query of a URL. */
  reason?: string;
  /** Directory of the turn, absolute on its host. */
  cwd?: string;
  /** Name of the shell, such as `bash`. */
  shell?: string;
  /** As `process.platform` has it. */
  os?: string;
}
