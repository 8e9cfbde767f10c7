import type { Readable } from "node:stream";
import { MAX_CREDENTIAL_BYTES } from "../limits.js";

/** What the lines of a credential on stdin are given to. */
export interface LineEvents {
  onLine(line: string): void;
  /** The end; with an error where a line was too long or stdin failed. */
  onEnd(error?: Error): void;
}

/** Reads lines of a bounded length. Returns a function that stops it. */
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
