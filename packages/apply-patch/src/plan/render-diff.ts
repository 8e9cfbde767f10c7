import { MAX_DIFF_BYTES } from "../limits.js";
import { splitLines } from "../match/text-lines.js";

/** Context lines around a change. */
const CONTEXT = 3;

/**
 * Renders a change as one hunk of a unified diff without file names; undefined for binary or large files. Either side may be
 * missing.
 */
export function renderDiff(before: Uint8Array | undefined, after: Uint8Array | undefined): string | undefined {
  const [old, now] = [toLines(before), toLines(after)];
  if (old === undefined || now === undefined) return undefined;
  let from = 0;
  while (from < old.length && from < now.length && old[from] === now[from]) from += 1;
  let end = 0;
  while (end < old.length - from && end < now.length - from && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const start = Math.max(0, from - CONTEXT);
  const tail = Math.min(end, CONTEXT);
  const range = (lines: readonly string[]) => {
    const count = lines.length - end + tail - start;
    return `${count === 0 ? start : start + 1},${count}`;
  };
  const mark = (sign: string, lines: readonly string[]) => lines.map((line) => `${sign}${line}\n`);
  return [
    `@@ -${range(old)} +${range(now)} @@\n`,
    ...mark(" ", old.slice(start, from)),
    ...mark("-", old.slice(from, old.length - end)),
    ...mark("+", now.slice(from, now.length - end)),
    ...mark(" ", old.slice(old.length - end, old.length - end + tail)),
  ].join("");
}

function toLines(bytes: Uint8Array | undefined): readonly string[] | undefined {
  if (bytes === undefined) return [];
  if (bytes.length > MAX_DIFF_BYTES) return undefined;
  try {
    return splitLines(new TextDecoder("utf-8", { fatal: true }).decode(bytes)).lines;
  } catch {
    return undefined;
  }
}
