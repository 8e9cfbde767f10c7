import type { LiveOutput } from "@codex/orchestrator";
import { MAX_NAMED_GAPS, RUN_OUTPUT_BYTES } from "../limits.js";

/** A whole stream as text, up to 10 MiB; a note at the end counts the bytes beyond it, and lines name ranges that are missing. */
export async function collectOutput(output: AsyncIterable<LiveOutput>): Promise<string> {
  const collected = new CollectedBytes();
  let kept = 0;
  let omitted = 0;
  for await (const { bytes, dropped } of output) {
    if (dropped !== undefined) collected.add(Buffer.from(describeGap(dropped)));
    const own = bytes.subarray(0, RUN_OUTPUT_BYTES - kept);
    collected.add(own);
    kept += own.length;
    omitted += bytes.length - own.length;
  }
  const text = collected.toString();
  return omitted === 0 ? text : `${text}\n[${omitted} bytes left out]\n`;
}

/** One buffer, which doubles: pieces may be single bytes, and a buffer for each would take a hundred times as much memory. */
class CollectedBytes {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  add(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = needed;
  }

  toString(): string {
    return this.#buffer.toString("utf8", 0, this.#length);
  }
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
