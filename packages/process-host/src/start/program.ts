import type { ProcessSpec } from "@codex/exec-backend";
import type { ChildStart } from "@codex/native";
import type { WrappedCommand } from "@codex/sandbox";

/** What is really started for a spec. */
export type Program = Omit<ChildStart, "stdio" | "onExit"> & {
  /** It takes the terminal at its stdin by itself, or what it starts does. */
  takesTerminal: boolean;
};

export function toProgram(spec: ProcessSpec, file: string, wrapped: WrappedCommand | undefined): Program {
  if (wrapped === undefined) {
    const { argv, arg0, cwd, env } = spec;
    return { file, argv: [arg0 ?? argv[0]!, ...argv.slice(1)], cwd, env, descriptors: [], takesTerminal: false };
  }
  return { ...wrapped, argv: [wrapped.file, ...wrapped.args], takesTerminal: wrapped.status !== undefined };
}
