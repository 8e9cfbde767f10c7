import { visible } from "./visible.js";

/** Tells the person something beside what a program prints: on a line of its own, where that program has the terminal. */
export function say(line: string): void {
  const isShared = process.stderr.isTTY && process.stdin.isTTY && process.stdin.isRaw;
  process.stderr.write(`${isShared ? "\r\n" : ""}codex: ${visible(line)}\n`);
}
