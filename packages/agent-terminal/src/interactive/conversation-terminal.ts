import type { ReadStream, WriteStream } from "node:tty";
import { createOutputSink, type OutputSink } from "../exec/output-sink.js";

/** Terminal of an interactive conversation. */
export interface ConversationTerminal {
  readonly sink: OutputSink;
  readonly output: WriteStream;
  /** False for a dumb terminal, which edits lines itself. */
  readonly canDraw: boolean;
  /** The terminal rewraps long rows when resized. */
  readonly reflows: boolean;
  size(): { columns: number; rows: number };
  /** Enables raw mode. Idempotent, also after `release`. */
  take(): void;
  /** Restores the previous mode. Idempotent, synchronous. */
  release(): void;
  onInput(listener: (bytes: Buffer) => void): void;
  onEnd(listener: () => void): void;
  onResize(listener: () => void): void;
  close(): void;
}

/** @param env its `TERM` determines the capabilities of the terminal */
export function createConversationTerminal(
  input: ReadStream,
  output: WriteStream,
  env: Readonly<Record<string, string | undefined>>,
): ConversationTerminal {
  const { TERM = "dumb" } = env;
  const canDraw = TERM !== "dumb";
  let isTaken = false;
  const listeners: (() => void)[] = [];
  const listen = (stream: NodeJS.EventEmitter, event: string, listener: (...args: never[]) => void) => {
    stream.on(event, listener as () => void); // emitted with the listener's arguments
    listeners.push(() => stream.off(event, listener as () => void));
  };
  return {
    sink: createOutputSink(output),
    output,
    canDraw,
    reflows: !/^(linux|xterm-mono|vt\d)/.test(TERM) && env.XTERM_VERSION === undefined,
    size: () => ({ columns: output.columns || DEFAULT_SIZE.columns, rows: output.rows || DEFAULT_SIZE.rows }),
    take() {
      if (isTaken) return;
      isTaken = true;
      if (!canDraw) return;
      input.setRawMode(true);
      output.write(PASTE_ON);
    },
    release() {
      if (!isTaken) return;
      isTaken = false;
      if (!canDraw) return;
      output.write(PASTE_OFF);
      try {
        input.setRawMode(false);
      } catch {
        // The terminal is gone.
      }
    },
    onInput: (listener) => listen(input, "data", listener),
    onEnd(listener) {
      listen(input, "end", listener);
      listen(input, "close", listener);
      listen(input, "error", listener);
    },
    onResize: (listener) => listen(output, "resize", listener),
    close() {
      for (const off of listeners.splice(0)) off();
      input.pause();
    },
  };
}

/** Size of a terminal that does not report one. */
const DEFAULT_SIZE = { columns: 80, rows: 24 };
/** Bracketed paste; switching off also restores line wrap and cursor. */
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l\u001b[?7h\u001b[?25h";
