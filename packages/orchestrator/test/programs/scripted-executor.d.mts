import type { ExecutorMessage, ExecutorToolSpec, OrchestratorMessage, SandboxSupport } from "@codex/executor-protocol";

export interface ScriptedOptions {
  /** False: knows only the base messages. */
  initialize?: boolean;
  tools?: readonly ExecutorToolSpec[];
  /** What it says about its sandbox. */
  sandbox?: SandboxSupport;
  /** Counted up from here; default 1000. */
  firstSessionId?: number;
}

export interface ScriptedExecutor {
  handle(message: OrchestratorMessage): void;
  /** Everything that was handled, in order. */
  readonly received: OrchestratorMessage[];
}

export const scriptedTools: readonly ExecutorToolSpec[];

export function createScriptedExecutor(
  options: ScriptedOptions & { send: (message: ExecutorMessage) => void; crash: () => void },
): ScriptedExecutor;
