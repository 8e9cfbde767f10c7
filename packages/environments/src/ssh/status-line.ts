import type { Readable } from "node:stream";
import { type Clock, systemClock } from "@codex/clock";
import { cutStart } from "@codex/values";
import { MAX_STARTUP_OUTPUT_BYTES, MAX_STATUS_BYTES, STDERR_TAIL_LENGTH } from "../limits.js";

/** A status line of the remote script: a keyword and its argument. */
export interface StatusLine {
  readonly word: string;
  readonly text: string;
}

/** Keyword for the end of the stream; the text is the end of the skipped output. */
export const ENDED = "";

/** No status line arrived. The message does not name the host. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  constructor(
    readonly code: "timeout" | "handshake_failed",
    message: string,
  ) {
    super(message);
  }
}

/** How to wait for a status line. */
export interface StatusOptions {
  mark: string;
  signal: AbortSignal;
  timeoutMs: number;
  clock?: Pick<Clock, "after"> | undefined;
}

/**
 * Reads up to the end of the next line that begins with the mark, skipping output of the shell's startup files before it.
 * Consumes nothing after it.
 * @throws StatusError, or the reason of `signal`
 */
export function readStatus(
  input: Readable,
  { mark, signal, timeoutMs, clock = systemClock }: StatusOptions,
): Promise<StatusLine> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const settle = (act: () => void) => {
      cancel();
      input.off("readable", onReadable).off("end", onEnd).off("close", onEnd);
      signal.removeEventListener("abort", onAbort);
      act();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    const onEnd = () => settle(() => resolve({ word: ENDED, text: cutStart(bytes.toString(), STDERR_TAIL_LENGTH) }));
    const onReadable = () => {
      for (let chunk: Buffer | null = input.read(); chunk !== null; chunk = input.read()) {
        bytes = Buffer.concat([bytes, chunk]);
        const found = findLine(bytes, mark);
        if (found !== undefined) {
          if (found.end < bytes.length) input.unshift(bytes.subarray(found.end));
          return settle(() => resolve(found.status));
        }
        if (bytes.length > MAX_STARTUP_OUTPUT_BYTES) return settle(() => reject(tooMuch()));
      }
    };
    const cancel = clock.after(timeoutMs, () =>
      settle(() => reject(new StatusError("timeout", `no response within ${timeoutMs} ms`))),
    );
    input.on("readable", onReadable).once("end", onEnd).once("close", onEnd);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    else if (input.readableEnded || input.destroyed) onEnd();
  });
}

function findLine(bytes: Buffer, mark: string): { status: StatusLine; end: number } | undefined {
  const start = bytes.indexOf(`\n${mark} `);
  const end = start < 0 ? -1 : bytes.indexOf("\n", start + 1);
  if (end < 0) return undefined;
  const line = bytes.toString("utf8", start + mark.length + 2, Math.min(end, start + MAX_STATUS_BYTES));
  const [, word = "", text = ""] = /^(\S*) ?(.*)$/s.exec(line) ?? [];
  return { status: { word, text }, end: end + 1 };
}

const tooMuch = (): StatusError =>
  new StatusError(
    "handshake_failed",
    `the shell printed more than ${MAX_STARTUP_OUTPUT_BYTES} bytes before the command ran`,
  );
