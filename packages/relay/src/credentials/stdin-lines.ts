import type { Readable } from "node:stream";
import { MAX_CREDENTIAL_BYTES } from "../limits.js";

/** Receives the lines of credentials on stdin. */
export interface LineEvents {
  onLine(line: string): void;
  /** Called at the end; with an error if a line was too long or stdin failed. */
  onEnd(error?: Error): void;
}

/** Reads lines of bounded length. Returns a function that stops reading. */
export function readLines(stream: Readable, { onLine, onEnd }: LineEvents): () => void {
  let rest = "";
  const stop = () => {
    stream.off("data", onData).off("end", end).off("error", end);
    stream.pause();
  };
  const end = (error?: Error) => {
    stop();
    onEnd(error);
  };
  const onData = (chunk: Buffer) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
    if (Buffer.byteLength(rest) > MAX_CREDENTIAL_BYTES) {
      end(new Error(`a line on stdin is longer than ${MAX_CREDENTIAL_BYTES} bytes`));
    }
  };
  stream
    .on("data", onData)
    .once("end", () => end())
    .once("error", end);
  return stop;
}
