import type { LiveOutput } from "@codex/orchestrator";
import { RUN_OUTPUT_BYTES } from "../limits.js";

/** A whole stream as text, up to 10 MiB; a note at the end counts the bytes beyond it. */
export async function collectOutput(output: AsyncIterable<LiveOutput>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let kept = 0;
  let omitted = 0;
  for await (const { bytes } of output) {
    const own = bytes.subarray(0, RUN_OUTPUT_BYTES - kept);
    pieces.push(Buffer.from(own));
    kept += own.length;
    omitted += bytes.length - own.length;
  }
  const text = Buffer.concat(pieces).toString();
  return omitted === 0 ? text : `${text}\n[${omitted} bytes left out]\n`;
}
