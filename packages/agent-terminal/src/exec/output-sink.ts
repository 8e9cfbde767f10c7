import type { Writable } from "node:stream";

/** Writes text to a stream, in order. */
export interface OutputSink {
  /** Resolves when more can be written (back-pressure). Never rejects. */
  write(text: string): Promise<void>;
  /** Aborted when the stream is closed or failed. */
  readonly closed: AbortSignal;
}

/**
 * Creates a sink; errors of the stream are handled by its owner.
 * @param render changes text before it is written, such as for a terminal
 */
export function createOutputSink(stream: Writable, render = (text: string): string => text): OutputSink {
  const stop = new AbortController();
  const onEnd = () => stop.abort(new Error("the output is closed"));
  stream.once("error", onEnd);
  stream.once("close", onEnd);
  return {
    closed: stop.signal,
    write(text) {
      if (stop.signal.aborted || text === "" || stream.write(render(text))) return Promise.resolve();
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
