import { cutEnd } from "@codex/values";
import { MAX_LINE_CHARS, MAX_READ_CHARS, MAX_READ_LINES } from "./limits.js";

/** Which lines are read. */
export interface LineRange {
  /** The first, from 1. Default 1. */
  readonly offset?: number | undefined;
  /** At most. Default and most {@link MAX_READ_LINES}. */
  readonly limit?: number | undefined;
}

/** Lines of a text with their numbers, and how to read on where there are more. `problem`: there is no such line. */
export function renderLines(
  text: string,
  { offset = 1, limit = MAX_READ_LINES }: LineRange,
): { readonly text: string } | { readonly problem: string } {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return { text: "(the file is empty)" };
  if (offset > lines.length) return { problem: `has ${lines.length} lines, and line ${offset} was asked for` };
  const shown: string[] = [];
  let room = MAX_READ_CHARS;
  const end = Math.min(lines.length, offset - 1 + Math.min(limit, MAX_READ_LINES));
  let at = offset - 1;
  for (; at < end; at += 1) {
    const line = `L${at + 1}: ${renderLine((lines[at] ?? "").replace(/\r$/, ""))}`;
    room -= line.length + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(line);
  }
  const more = lines.length - at;
  if (more > 0) shown.push(`(${more} more lines: go on with offset ${at + 1})`);
  return { text: shown.join("\n") };
}

const renderLine = (line: string): string =>
  line.length <= MAX_LINE_CHARS
    ? line
    : `${cutEnd(line, MAX_LINE_CHARS)} (${line.length - MAX_LINE_CHARS} more characters in this line)`;
