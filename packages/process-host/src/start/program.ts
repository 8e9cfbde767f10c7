import type { ProcessSpec } from "@codex/exec-backend";
import type { ChildStart } from "@codex/native";
import type { WrappedCommand } from "@codex/sandbox";

/** What is spawned for a spec: its program, or the wrapper of its sandbox. */
export type Program = Omit<ChildStart, "stdio" | "onExit" | "argv"> & {
  argv: readonly string[];
  /** Whether it, or a program it starts, makes the terminal at its stdin its controlling terminal. */
  takesTerminal: boolean;
};

export function toProgram(spec: ProcessSpec, file: string, wrapped: WrappedCommand | undefined): Program {
  if (wrapped === undefined) {
    const { argv, arg0, cwd, env } = spec;
    return { file, argv: [arg0 ?? argv[0]!, ...argv.slice(1)], cwd, env, descriptors: [], takesTerminal: false };
  }
  const { file: wrapper, args, cwd, env, descriptors } = wrapped;
  return {
    file: wrapper,
    argv: [wrapper, ...args],
    cwd,
    env,
    descriptors,
    takesTerminal: wrapped.status !== undefined,
  };
}
