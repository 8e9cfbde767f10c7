import type { LiveOutput } from "@codex/orchestrator";
import { MAX_NAMED_GAPS, RUN_OUTPUT_BYTES } from "../limits.js";

/** A whole stream as text, up to 10 MiB; a note at the end counts the bytes beyond it, and lines name ranges that are missing. */
export async function collectOutput(output: AsyncIterable<LiveOutput>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let kept = 0;
  let omitted = 0;
  for await (const { bytes, dropped } of output) {
    if (dropped !== undefined) pieces.push(Buffer.from(describeGap(dropped)));
    const own = bytes.subarray(0, RUN_OUTPUT_BYTES - kept);
    pieces.push(Buffer.from(own));
    kept += own.length;
    omitted += bytes.length - own.length;
  }
  const text = Buffer.concat(pieces).toString();
  return omitted === 0 ? text : `${text}\n[${omitted} bytes left out]\n`;
}

/** A line in place of missing output; its bytes count both streams. */
const describeGap = ({ from, to }: NonNullable<LiveOutput["dropped"]>): string =>
  `\n[bytes ${from}-${to} of the output are gone]\n`;

/** A stream of bytes. Where some are missing it fails at its end, with their ranges. */
export function toStream(output: AsyncIterable<LiveOutput>): ReadableStream<Uint8Array> {
  const pieces = output[Symbol.asyncIterator]();
  const gaps: string[] = [];
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const { done, value } = await pieces.next();
        if (done === true) {
          if (gaps.length === 0) return controller.close();
          return controller.error(new Error(`bytes ${gaps.join(", ")} of the output of both streams are gone`));
        }
        const { dropped, bytes } = value;
        if (dropped !== undefined && gaps.length < MAX_NAMED_GAPS) gaps.push(`${dropped.from}-${dropped.to}`);
        if (bytes.length > 0) return controller.enqueue(bytes);
      }
    },
    async cancel() {
      await pieces.return?.();
    },
  });
}
