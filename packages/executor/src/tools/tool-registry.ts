import type { ExecutorToolSpec, OutputStream, ToolCallOutcome } from "@codex/executor-protocol";

/** A tool that an executor offers. */
export interface ExecutorTool {
  spec: ExecutorToolSpec;
  /**
   * Handles one call. `args` is what the model sent, not validated. An exception becomes an error outcome.
   * It should end soon after `context.signal` aborts.
   */
  call(args: unknown, context: ToolCallContext): Promise<ToolCallOutcome>;
}

/** The call that a tool handles. */
export interface ToolCallContext {
  readonly requestId: string;
  /** Aborts when the orchestrator cancels the call, and when the executor ends. */
  readonly signal: AbortSignal;
  /**
   * Sends live output of the call, in order; does nothing for an orchestrator that did not send `initialize`, or has
   * disconnected. Never rejects. Await it: a slow orchestrator then slows down the tool instead of filling memory.
   */
  emitOutput(bytes: Uint8Array, stream?: OutputStream): Promise<void>;
}

/** The additional tools of an executor. Changes are announced as `tools_changed`. */
export interface ToolRegistry {
  /** Adds a tool. Returns a function that removes it. @throws Error when the name is taken or empty. */
  add(tool: ExecutorTool): () => void;
  get(name: string): ExecutorTool | undefined;
  /** In the order in which they were added. */
  list(): readonly ExecutorTool[];
  /** Calls `listener` after each change. Returns a function that stops it. */
  watch(listener: () => void): () => void;
}

/** @param reserved names that no tool may have */
export function createToolRegistry(reserved: ReadonlySet<string> = new Set()): ToolRegistry {
  const tools = new Map<string, ExecutorTool>();
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of [...listeners]) listener();
  };
  return {
    add(tool) {
      const { name } = tool.spec;
      if (name === "") throw new Error("a tool must have a name");
      if (tools.has(name) || reserved.has(name)) throw new Error(`there is already a tool named \`${name}\``);
      tools.set(name, tool);
      notify();
      return () => {
        if (tools.get(name) !== tool) return;
        tools.delete(name);
        notify();
      };
    },
    get: (name) => tools.get(name),
    list: () => [...tools.values()],
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
