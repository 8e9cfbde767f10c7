import { closeSync, constants, openSync, readSync } from "node:fs";
import type { ReadStream } from "node:tty";
import type { TerminalSize } from "@codex/executor-protocol";

/** This terminal in raw mode, for a program that runs elsewhere: it receives every key and the window size. */
export interface TakenTerminal {
  restore(): void;
}

/** Size of a terminal that is not displayed. */
export const DEFAULT_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** The size of the terminal at stdout, else at stderr; undefined when neither is one. */
export function getTerminalSize(): TerminalSize | undefined {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.isTTY && stream.rows > 0 && stream.columns > 0) return { rows: stream.rows, cols: stream.columns };
  }
  return undefined;
}

/** Puts stdin into raw mode, if it is a terminal, and reports changes of its size. `restore` is idempotent. */
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
 * Discards unread input, so that a later reader of this terminal does not take it for a command. Leaves the terminal raw.
 */
export function dropTyped(stdin: ReadStream): void {
  // In raw mode an incomplete line can also be read.
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

/** Opens the terminal again in non-blocking mode. */
function openTerminal(): number | undefined {
  for (const path of ["/proc/self/fd/0", "/dev/tty"]) {
    try {
      return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // Not available on this system, or not permitted.
    }
  }
  return undefined;
}
