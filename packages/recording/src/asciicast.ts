import type { ByteRange, OutputStream, TerminalSize } from "@codex/executor-protocol";
import { defined } from "@codex/values";

/** The header, which is the first line of a recording. */
export interface CastHeader {
  /** Size of the terminal; for a program on pipes, of the terminal on which the recording is played. */
  size: TerminalSize;
  /** When it began: Unix time, milliseconds. */
  startedAt: number;
  /** The command line as a user would type it. */
  command: string;
  /** `TERM` of the program. */
  terminalType?: string | undefined;
}

/**
 * Writes an asciicast v3, the format of asciinema 3 (docs.asciinema.org/manual/asciicast/v3): a line for the header, then one
 * for each event, with the seconds since the previous one. Each function returns complete lines, or an empty string.
 * Times are milliseconds since the recording began, and do not go back.
 *
 * A recording is text: a character that is split over two pieces is buffered until it is complete, and invalid bytes become
 * U+FFFD. Lines of a program on pipes end with "\n" alone; the "\r" that a terminal would add is inserted.
 */
export interface CastEncoder {
  header(header: CastHeader): string;
  output(stream: OutputStream, bytes: Uint8Array, at: number): string;
  input(bytes: Uint8Array, at: number): string;
  resize(size: TerminalSize, at: number): string;
  /** A marker for missing output. */
  marker(label: string, at: number): string;
  /** The last events; no exit code if it is unknown. */
  end(exitCode: number | undefined, at: number): string;
}

/** Label of the marker for missing output. */
export const describeGap = ({ from, to }: ByteRange): string => `bytes ${from}-${to} of the output were not retained`;

type Source = OutputStream | "input";

const createDecoder = () => new TextDecoder("utf-8", { ignoreBOM: true });

/** An encoder for one recording. */
export function createCastEncoder(): CastEncoder {
  /** Time of the last event, microseconds. */
  let last = 0;
  let afterReturn = false;
  const decoders = new Map<Source, ReturnType<typeof createDecoder>>();
  const event = (code: string, data: string, at: number) => {
    const now = Math.max(last, Math.round(at * 1000));
    const interval = (now - last) / 1_000_000;
    last = now;
    return `[${interval.toFixed(6)}, "${code}", ${JSON.stringify(data)}]\n`;
  };
  const decode = (source: Source, bytes: Uint8Array | undefined) => {
    const decoder = decoders.get(source) ?? createDecoder();
    decoders.set(source, decoder);
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  };
  const addReturns = (text: string) => {
    const ended = text.replace(/\r?\n/g, (end, index: number) => (index === 0 && afterReturn ? end : "\r\n"));
    afterReturn = text.endsWith("\r");
    return ended;
  };
  const output = (stream: OutputStream, text: string, at: number) =>
    text === "" ? "" : event("o", stream === "pty" ? text : addReturns(text), at);
  /** Flushes an incomplete character. */
  const flush = (at: number) => {
    const streams = [...decoders.keys()].filter((source) => source !== "input");
    return streams.map((stream) => output(stream, decode(stream, undefined), at)).join("");
  };
  return {
    header({ size, startedAt, command, terminalType }) {
      const term = { cols: size.cols, rows: size.rows, ...defined({ type: terminalType }) };
      return `${JSON.stringify({ version: 3, term, timestamp: Math.floor(startedAt / 1000), command })}\n`;
    },
    output: (stream, bytes, at) => output(stream, decode(stream, bytes), at),
    input(bytes, at) {
      const text = decode("input", bytes);
      return text === "" ? "" : event("i", text, at);
    },
    resize: ({ rows, cols }, at) => event("r", `${cols}x${rows}`, at),
    marker: (label, at) => flush(at) + event("m", label, at),
    end: (exitCode, at) => flush(at) + (exitCode === undefined ? "" : event("x", String(exitCode), at)),
  };
}
