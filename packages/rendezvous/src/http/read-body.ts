import type { IncomingMessage } from "node:http";
import type { Clock } from "@codex/clock";
import { ConnectionGone, Refusal } from "../refusal.js";

/** Bytes of a body over the limit that are read and discarded: a client that is still sending would not read the response. */
const DISCARDED_BYTES = 1024 * 1024;

/** Reads the body of a request, UTF-8. @throws Refusal `body_too_large` or `too_slow`; ConnectionGone */
export function readBody(
  request: IncomingMessage,
  { clock, maxBytes, deadlineMs }: { clock: Pick<Clock, "after">; maxBytes: number; deadlineMs: number },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const cancel = clock.after(deadlineMs, () => {
      settle(() => reject(new Refusal("too_slow", `the body was not received within ${deadlineMs / 1000} s`)));
    });
    const settle = (run: () => void) => {
      cancel();
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      run();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else if (size > maxBytes + DISCARDED_BYTES) refuse();
    };
    const refuse = () =>
      settle(() => reject(new Refusal("body_too_large", `the body has more than ${maxBytes} bytes`)));
    const onEnd = () => (size > maxBytes ? refuse() : settle(() => resolve(Buffer.concat(chunks).toString())));
    const onClose = () =>
      settle(() => reject(new ConnectionGone("the connection was closed before the end of the body")));
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}
