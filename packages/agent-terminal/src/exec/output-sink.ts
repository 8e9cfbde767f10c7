import type { Writable } from "node:stream";

/** Text that goes to a stream, in order. */
export interface OutputSink {
  /** Resolves when more may be written: awaiting it follows a slow reader. Never rejects. */
  write(text: string): Promise<void>;
  /** Aborts when nobody reads any more, or nothing can be written. */
  readonly closed: AbortSignal;
}

/** Writes to a stream whose errors are reported by its owner. */
export function createOutputSink(stream: Writable): OutputSink {
  const stop = new AbortController();
  const onEnd = () => stop.abort(new Error("the output is closed"));
  stream.once("error", onEnd);
  stream.once("close", onEnd);
  return {
    closed: stop.signal,
    write(text) {
      if (stop.signal.aborted || text === "" || stream.write(text)) return Promise.resolve();
      return untilDrained(stream, stop.signal);
    },
  };
}

function untilDrained(stream: Writable, closed: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off("drain", settle);
      closed.removeEventListener("abort", settle);
      resolve();
    };
    stream.once("drain", settle);
    closed.addEventListener("abort", settle, { once: true });
    if (closed.aborted) settle();
  });
}
