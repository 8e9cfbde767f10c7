import type { ToolUse } from "./hook.js";

/** What a model reads of a use of a tool that a hook blocked, in the words of Codex. */
export function describeBlocked({ tool, input }: Pick<ToolUse, "tool" | "input">, reason: string): string {
  const command = tool === "Bash" || tool === "apply_patch" ? commandIn(input) : undefined;
  return command === undefined
    ? `Tool call blocked by PreToolUse hook: ${reason}. Tool: ${tool}`
    : `Command blocked by PreToolUse hook: ${reason}. Command: ${command}`;
}

/** The command of an input, such as one that a hook gives instead; undefined if it has none. */
export const commandIn = (input: unknown): string | undefined =>
  typeof input === "object" && input !== null && "command" in input && typeof input.command === "string"
    ? input.command
    : undefined;
