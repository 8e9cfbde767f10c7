import type { Writable } from "node:stream";
import { LOG_CLOSE_MS, MAX_WAITING_LOG_BYTES } from "../limits.js";
import type { LogFormat } from "./format.js";
import { formatDropped, type LogSink } from "./sink.js";

/** Lines to a stream such as stderr. The stream is not owned; once it has failed or ended, lines are dropped. */
export function createStreamSink(
  stream: Writable,
  format: LogFormat,
  maxWaiting = MAX_WAITING_LOG_BYTES,
): LogSink & AsyncDisposable {
  let dropped = 0;
  let gone = false;
  stream.on("error", () => {
    gone = true;
  });
  const write = (line: string) => {
    if (gone || stream.destroyed || stream.writableEnded) return;
    if (stream.writableLength > maxWaiting) {
      dropped += 1;
      return;
    }
    if (dropped > 0) stream.write(formatDropped(dropped, format));
    dropped = 0;
    stream.write(line);
  };
  return {
    write,
    async close() {
      if (gone || stream.writableLength === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOG_CLOSE_MS);
        stream.write("", () => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}
