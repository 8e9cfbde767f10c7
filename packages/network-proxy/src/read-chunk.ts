import type { Duplex } from "node:stream";

/** The next chunk of a stream that nobody else reads; undefined at its end, or once `signal` aborts. */
export function readChunk(stream: Duplex, signal?: AbortSignal): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const finish = (chunk: Buffer | undefined) => {
      stream.off("readable", read);
      stream.off("end", end);
      stream.off("close", end);
      signal?.removeEventListener("abort", end);
      resolve(chunk);
    };
    const end = () => finish(undefined);
    const read = () => {
      const chunk = stream.read() as Buffer | null; // no encoding is set
      if (chunk !== null) finish(chunk);
      else if (stream.readableEnded || stream.destroyed) end();
    };
    stream.on("readable", read);
    stream.once("end", end);
    stream.once("close", end);
    signal?.addEventListener("abort", end);
    read();
  });
}
