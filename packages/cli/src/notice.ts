import { visible } from "@codex/agent-terminal/text";

/** Writes a notice of this command to stderr, on a separate line where a program has the terminal. */
export function say(line: string): void {
  const isShared = process.stderr.isTTY && process.stdin.isTTY && process.stdin.isRaw;
  process.stderr.write(`${isShared ? "\r\n" : ""}codex: ${visible(line)}\n`);
}
