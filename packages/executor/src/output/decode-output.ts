import type { OutputChunk } from "@codex/exec-backend";
import type { OutputText } from "@codex/executor-protocol";

/** Output as text, a part for each run of chunks without a gap. */
export function decodeOutput(chunks: readonly OutputChunk[]): OutputText[] {
  const runs: OutputChunk[][] = [];
  let end: number | undefined;
  for (const chunk of chunks) {
    if (chunk.offset === end) runs.at(-1)!.push(chunk);
    else runs.push([chunk]);
    end = chunk.offset + chunk.bytes.length;
  }
  return runs.map((run) => ({
    from: run[0]!.offset,
    to: run.at(-1)!.offset + run.at(-1)!.bytes.length,
    text: decode(run),
  }));
}

/** Decodes each stream separately: a character may continue after bytes of the other stream. */
function decode(chunks: readonly OutputChunk[]): string {
  const [first] = chunks;
  if (chunks.every(({ stream }) => stream === first?.stream)) {
    return decoder().decode(Buffer.concat(chunks.map(({ bytes }) => bytes)));
  }
  const decoders = new Map<string, ReturnType<typeof decoder>>();
  let text = "";
  for (const { stream, bytes } of chunks) {
    const own = decoders.get(stream) ?? decoder();
    decoders.set(stream, own);
    text += own.decode(bytes, { stream: true });
  }
  for (const own of decoders.values()) text += own.decode();
  return text;
}

const decoder = () => new TextDecoder("utf-8", { ignoreBOM: true });
