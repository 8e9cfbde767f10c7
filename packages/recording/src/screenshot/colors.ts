import type { StyledRun } from "@codex/executor-protocol";

/** Colors of a terminal without a palette of its own. */
export const SCREEN = {
  background: "#0d1117",
  frame: "#161b22",
  edge: "#30363d",
  text: "#d7dde4",
  faint: "#8b949e",
};

/** The first 16 colors, in the order of the codes 30 to 37 and 90 to 97. */
const ANSI = [
  ...["#484f58", "#ff7b72", "#56d364", "#e3b341", "#79b8ff", "#d2a8ff", "#56d4dd", "#c9d1d9"],
  ...["#6e7681", "#ffa198", "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#76e3ea", "#ffffff"],
];
/** Intensities in the cube of 6 × 6 × 6 colors. */
const LEVELS = [0, 95, 135, 175, 215, 255];

/** The colors that a run is drawn in; `bg` is undefined if no background has to be drawn. */
export function getColors({ fg, bg, bold, inverse }: StyledRun): { fg: string; bg: string | undefined } {
  // As terminals do: bold text in one of the first eight colors is bright.
  const text = typeof fg === "number" && fg < 8 && bold ? fg + 8 : fg;
  const front = text === undefined ? SCREEN.text : toHex(text);
  const back = bg === undefined ? undefined : toHex(bg);
  return inverse ? { fg: back ?? SCREEN.background, bg: front } : { fg: front, bg: back };
}

function toHex(color: number | string): string {
  if (typeof color === "string") return color;
  const basic = ANSI[color];
  if (basic !== undefined) return basic;
  const gray = 8 + (color - 232) * 10;
  if (color >= 232) return join([gray, gray, gray]);
  const at = color - 16;
  return join([Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((level) => LEVELS[level] ?? 0));
}

const join = (parts: readonly number[]): string =>
  `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
