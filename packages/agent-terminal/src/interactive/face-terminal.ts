import type { ReadStream, WriteStream } from "node:tty";
import { createOutputSink, type OutputSink } from "../exec/output-sink.js";

/** The terminal of a person, taken for a conversation. */
export interface FaceTerminal {
  readonly sink: OutputSink;
  readonly output: WriteStream;
  /** False: it cannot place its cursor; then lines are edited by the terminal itself. */
  readonly canDraw: boolean;
  /** It wraps long rows anew when it becomes narrower. */
  readonly reflows: boolean;
  size(): { columns: number; rows: number };
  /** From here on keys come one by one. Idempotent, also after `release`. */
  take(): void;
  /** As it was before. Idempotent, synchronous. */
  release(): void;
  onInput(listener: (bytes: Buffer) => void): void;
  onEnd(listener: () => void): void;
  onResize(listener: () => void): void;
  close(): void;
}

/** @param env decides, by `TERM`, what the terminal can do */
export function createFaceTerminal(
  input: ReadStream,
  output: WriteStream,
  env: Readonly<Record<string, string | undefined>>,
): FaceTerminal {
  const { TERM = "dumb" } = env;
  const canDraw = TERM !== "dumb";
  let isTaken = false;
  const listeners: (() => void)[] = [];
  const listen = (stream: NodeJS.EventEmitter, event: string, listener: (...args: never[]) => void) => {
    stream.on(event, listener as () => void); // emitted with what the listener takes
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

/** Of a terminal that does not say. */
const DEFAULT_SIZE = { columns: 80, rows: 24 };
/** The terminal marks what is pasted; and wraps lines and shows its cursor, whatever came before. */
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l\u001b[?7h\u001b[?25h";
