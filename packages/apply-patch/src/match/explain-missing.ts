import { MAX_NEAREST_LINES, MAX_NEAREST_PLACES } from "../limits.js";
import { quoteLine, quoteLines } from "../quote.js";
import { looseKey } from "./line-keys.js";
import { getSought, type Located, locateChunks } from "./locate-chunks.js";
import type { TextLines } from "./text-lines.js";

/** Describes what was not found, where the search started, and the closest match. */
export function explainMissing(text: TextLines, located: Extract<Located, { ok: false }>): string {
  const { chunk, missing, from } = located;
  const sought = missing === "header" ? [chunk.header ?? ""] : getSought(chunk.lines);
  const what = missing === "header" ? `the line that '@@ ${quoteLine(chunk.header ?? "")}' names` : "the lines";
  const where = `of the chunk at line ${chunk.line} of the patch`;
  const since = from === 0 ? "" : ` after line ${from} of the file, where the search begins`;
  const found = findNearest(text.lines, sought, { from, isAtEnd: missing === "lines" && chunk.isAtEnd, missing });
  const words = missing === "header" ? "" : `:\n${quoteLines(sought)}`;
  const end = missing === "lines" && chunk.isAtEnd ? " at the end of the file" : "";
  return `${what} ${where} were not found${since}${end}${words}\n${found}`;
}

interface Sought {
  from: number;
  isAtEnd: boolean;
  missing: "header" | "lines";
}

function findNearest(lines: readonly string[], sought: readonly string[], { from, isAtEnd, missing }: Sought): string {
  if (lines.length === 0) return "The file is empty.";
  const elsewhere = findElsewhere(lines, sought);
  if (elsewhere !== undefined && isAtEnd && elsewhere >= from) {
    return `They are at line ${elsewhere + 1} of the file, which has ${lines.length} lines: leave out '*** End of File'.`;
  }
  if (elsewhere !== undefined) {
    return `It is at line ${elsewhere + 1} of the file, before that: chunks follow the order of the file, and a header is the line above them.`;
  }
  const start = findNearestStart(lines, sought);
  if (start === undefined) return describeSingle(lines, sought, missing);
  return describeDifference(lines, sought, start);
}

/** Index of the lines when searched in the whole file. */
function findElsewhere(lines: readonly string[], sought: readonly string[]): number | undefined {
  const chunk = { line: 0, isAtEnd: false, lines: sought.map((text) => ({ kind: "context" as const, text })) };
  const located = locateChunks({ mark: "", lines, ends: [], newline: "\n" }, [chunk]);
  return located.ok && located.replacements[0]?.count ? located.replacements[0].start : undefined;
}

/** Position at which most lines match, ignoring case and whitespace; undefined when none does. */
function findNearestStart(lines: readonly string[], sought: readonly string[]): number | undefined {
  const wanted = new Map<string, number[]>();
  for (const [index, line] of sought.slice(0, MAX_NEAREST_LINES).entries()) {
    const key = looseKey(line);
    if (key !== "") wanted.set(key, [...(wanted.get(key) ?? []), index]);
  }
  const votes = new Map<number, number>();
  const places = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    const key = looseKey(line);
    const indexes = wanted.get(key);
    const seen = places.get(key) ?? 0;
    if (indexes === undefined || seen >= MAX_NEAREST_PLACES) continue;
    places.set(key, seen + 1);
    for (const index of indexes) votes.set(at - index, (votes.get(at - index) ?? 0) + 1);
  }
  let best: number | undefined;
  for (const [start, count] of votes) if (best === undefined || count > votes.get(best)!) best = start;
  return best;
}

function describeDifference(lines: readonly string[], sought: readonly string[], start: number): string {
  const differs = sought.findIndex(
    (line, index) => lines[start + index] !== line && !isLooselySame(lines, start, index, line),
  );
  const at = differs === -1 ? sought.findIndex((line, index) => lines[start + index] !== line) : differs;
  const place = `The nearest place begins at line ${Math.max(start, 0) + 1} of the file`;
  if (at === -1) return `${place}.`;
  const there = lines[start + at];
  const has = there === undefined ? "the file has no line" : `the file has:\n${quoteLine(there)}`;
  return `${place}; where the patch has:\n${quoteLine(sought[at]!)}\n${has}${there === undefined ? "" : ` (line ${start + at + 1})`}`;
}

const isLooselySame = (lines: readonly string[], start: number, index: number, line: string): boolean =>
  looseKey(lines[start + index] ?? "") === looseKey(line);

/** Describes the line most similar to the first line of the search. */
function describeSingle(lines: readonly string[], sought: readonly string[], missing: Sought["missing"]): string {
  const wanted = looseKey(sought.find((line) => looseKey(line) !== "") ?? "");
  const pairs = getPairs(wanted);
  let best = { at: -1, score: 0 };
  for (const [at, line] of lines.entries()) {
    if (at >= MAX_NEAREST_PLACES * 20) break;
    const score = getSimilarity(pairs, getPairs(looseKey(line.slice(0, 400))));
    if (score > best.score) best = { at, score };
  }
  const rule = missing === "header" ? " A header is one whole line of the file." : "";
  if (best.score < 0.3) return `Nothing in the file is like it: it has ${lines.length} lines.${rule}`;
  return `The nearest line is line ${best.at + 1} of the file:\n${quoteLine(lines[best.at]!)}${rule && `\n${rule.trim()}`}`;
}

function getPairs(text: string): Set<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < Math.min(text.length, 400); at += 1) pairs.add(text.slice(at, at + 2));
  return pairs;
}

/** Similarity by common character pairs (Dice coefficient), 0 to 1. */
function getSimilarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 || other.size === 0) return 0;
  let common = 0;
  for (const pair of one) if (other.has(pair)) common += 1;
  return (2 * common) / (one.size + other.size);
}
