import type { StyledRun, StyledScreen } from "@codex/executor-protocol";

/**
 * The rows as text for a terminal, with the styles of the screen and nothing else that acts on a terminal: characters that are no text become
 * U+FFFD. Each row resets its style.
 */
export const renderAnsiRows = ({ styledRows }: StyledScreen): string[] =>
  styledRows.map((runs) => runs.map(renderRun).join(""));

function renderRun(run: StyledRun): string {
  const codes = [
    ...STYLES.flatMap(([name, code]) => (run[name] === true ? [code] : [])),
    ...colorCodes(run.fg, 38),
    ...colorCodes(run.bg, 48),
  ];
  const text = run.text.replace(UNFIT, "\uFFFD");
  return codes.length === 0 ? text : `\x1b[${codes.join(";")}m${text}\x1b[0m`;
}

const STYLES = [
  ["bold", 1],
  ["dim", 2],
  ["italic", 3],
  ["underline", 4],
  ["inverse", 7],
  ["strikethrough", 9],
] as const;

/** @param kind 38 for the text, 48 for what is behind it */
function colorCodes(color: StyledRun["fg"], kind: 38 | 48): number[] {
  if (color === undefined) return [];
  if (typeof color === "number") return [kind, 5, color];
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return [kind, 2, red!, green!, blue!];
}

/** Control characters, separators, lone surrogates, and what changes the direction of the text around it. */
const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
