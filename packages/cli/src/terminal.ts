import { closeSync, constants, openSync, readSync } from "node:fs";
import type { ReadStream } from "node:tty";
import type { TerminalSize } from "@codex/executor-protocol";

/** This terminal, handed over to a program that runs elsewhere: every key goes there, and the size with it. */
export interface TakenTerminal {
  restore(): void;
}

/** Of a terminal that nobody sees. */
export const DEFAULT_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** The size of the terminal at stdout, else at stderr; undefined when neither is one. */
export function getTerminalSize(): TerminalSize | undefined {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.isTTY && stream.rows > 0 && stream.columns > 0) return { rows: stream.rows, cols: stream.columns };
  }
  return undefined;
}

/** Puts stdin into raw mode, if it is a terminal, and tells changes of the size. `restore` is idempotent. */
export function takeTerminal(onResize: (size: TerminalSize) => void): TakenTerminal {
  const stdin: ReadStream = process.stdin;
  const wasRaw = stdin.isTTY ? stdin.isRaw : undefined;
  if (stdin.isTTY) stdin.setRawMode(true);
  const resized = () => {
    const size = getTerminalSize();
    if (size !== undefined) onResize(size);
  };
  process.on("SIGWINCH", resized);
  let restored = false;
  const restore = () => {
    if (restored) return;
    restored = true;
    process.off("SIGWINCH", resized);
    process.off("exit", restore);
    if (wasRaw !== undefined) stdin.setRawMode(wasRaw);
  };
  // Whatever ends this process in an orderly way must not leave the user's terminal raw.
  process.on("exit", restore);
  return { restore };
}

/**
 * Drops what was typed and not read yet, so that nobody who reads this terminal later takes it for a command. Leaves the
 * terminal raw.
 */
export function dropTyped(stdin: ReadStream): void {
  // What is not a whole line yet can be read in this mode as well.
  stdin.setRawMode(true);
  const terminal = openTerminal();
  if (terminal === undefined) return;
  const bytes = Buffer.alloc(4096);
  try {
    while (readSync(terminal, bytes) > 0);
  } catch {
    // EAGAIN: there is nothing left.
  } finally {
    closeSync(terminal);
  }
}

/** Stdin once more, in a way that does not wait. */
function openTerminal(): number | undefined {
  for (const path of ["/proc/self/fd/0", "/dev/tty"]) {
    try {
      return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // Not on this system, or not of this process.
    }
  }
  return undefined;
}
