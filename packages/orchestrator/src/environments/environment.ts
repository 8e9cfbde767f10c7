import type { PolicyOptions } from "@codex/policy";
import type { Approver } from "../approvals/approver.js";
import type { AttachedExecutor, AttachOptions } from "../executors/attached-executor.js";

/** The part of an orchestrator to which executors are attached. */
export interface ExecutorAttachment {
  /** @throws OrchestratorError */
  attach(options: AttachOptions): Promise<AttachedExecutor>;
}

/** A named place whose executor is attached when a call first needs it, such as an `Environment` of `@codex/environments`. */
export interface AttachableEnvironment {
  /** The name that models use: 1 to 64 letters, digits and `_.-`. */
  readonly id: string;
  /** State of its connection. The reason is shown to models: without user, password and query of URLs. */
  readonly state?: { readonly status: string; readonly reason?: string | undefined };
  /**
   * Attaches an executor under its id. Not called concurrently; called again when that executor is offline. Rejects if it
   * cannot be attached: then nothing is run.
   */
  attach(orchestrator: ExecutorAttachment, options: { signal: AbortSignal }): Promise<unknown>;
}

/** Options of an environment, which a model cannot change. */
export interface EnvironmentOptions {
  /** Replaces the policy of the orchestrator, for commands in this environment. */
  policy?: PolicyOptions;
  /** Replaces the approver of the orchestrator. */
  approver?: Approver;
  /**
   * Environment in which calls run while this one cannot be used. Their results have a notice. Default: none. Not used for calls
   * on a session, nor if the fallback is not selected.
   */
  fallback?: string;
}

/** A description of an environment for a model. Members that are unknown before it is connected are left out. */
export interface EnvironmentDescription {
  id: string;
  /** Whether calls without `environment_id` run here. */
  primary: boolean;
  /** `ready`, `reconnecting`, `failed`, `disconnected`, `connecting`, or another status reported by the environment. */
  status: string;
  /** Why it is not ready, without user, password and query of a URL. */
  reason?: string;
  /** Directory of the turn, absolute on its host. */
  cwd?: string;
  /** Name of the shell, such as `bash`. */
  shell?: string;
  /** A value of `process.platform`. */
  os?: string;
}
