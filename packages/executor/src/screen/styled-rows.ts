import type { StyledRun } from "@codex/executor-protocol";
import { cutEnd, defined } from "@codex/values";
import type { IBuffer, IBufferCell } from "@xterm/headless";
import { MAX_STYLED_RUNS } from "../limits.js";

type Style = Omit<StyledRun, "text" | "cells">;

/** A run in progress; `key` is equal for cells of the same style and width. */
interface Collected {
  readonly key: string;
  readonly run: StyledRun;
}

/** Rows of a terminal as runs of one style. Beyond `MAX_STYLED_RUNS` everything has the default style. */
export function readStyledRows(buffer: IBuffer, { rows, cols }: { rows: number; cols: number }): StyledRun[][] {
  const cell = buffer.getNullCell();
  let styledRuns = 0;
  const styled = Array.from({ length: rows }, (_, row) => {
    const line = buffer.getLine(buffer.baseY + row);
    const collected: Collected[] = [];
    for (let col = 0; col < cols; col += 1) {
      const found = line?.getCell(col, cell);
      // A wide character has its width in its first cell, and 0 in the second one.
      if (found === undefined || found.getWidth() === 0) continue;
      addCell(collected, found, styledRuns + collected.length < MAX_STYLED_RUNS ? getStyle(found) : {});
    }
    styledRuns += collected.length;
    return withoutBlankEnd(collected.map(({ run }) => run));
  });
  return styled.slice(0, styled.findLastIndex((runs) => runs.length > 0) + 1);
}

function addCell(collected: Collected[], cell: IBufferCell, style: Style): void {
  const chars = cell.isInvisible() !== 0 ? "" : cell.getChars();
  const text = cutEnd(chars === "" ? " " : chars, MAX_CELL_LENGTH);
  const key = `${cell.getWidth()} ${JSON.stringify(style)}`;
  const last = collected.at(-1);
  if (last?.key === key) {
    last.run.text += text;
    last.run.cells += cell.getWidth();
  } else collected.push({ key, run: { text, cells: cell.getWidth(), ...style } });
}

/** UTF-16 units of a cell, which takes any number of combining characters. */
const MAX_CELL_LENGTH = 16;

function getStyle(cell: IBufferCell): Style {
  const fg = getColor(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor());
  const bg = getColor(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor());
  return {
    ...defined({ fg, bg }),
    ...(cell.isBold() === 0 ? {} : { bold: true }),
    ...(cell.isDim() === 0 ? {} : { dim: true }),
    ...(cell.isItalic() === 0 ? {} : { italic: true }),
    ...(cell.isUnderline() === 0 ? {} : { underline: true }),
    ...(cell.isInverse() === 0 ? {} : { inverse: true }),
    ...(cell.isStrikethrough() === 0 ? {} : { strikethrough: true }),
  };
}

function getColor(isRgb: boolean, isPalette: boolean, value: number): StyledRun["fg"] {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  return isPalette ? value : undefined;
}

function withoutBlankEnd(runs: readonly StyledRun[]): StyledRun[] {
  const showsBlanks = ({ bg, inverse, underline, strikethrough }: StyledRun) =>
    bg !== undefined || inverse === true || underline === true || strikethrough === true;
  const last = runs.findLastIndex((run) => showsBlanks(run) || run.text.trim() !== "");
  const run = runs[last];
  if (run === undefined || showsBlanks(run)) return runs.slice(0, last + 1);
  const text = run.text.trimEnd();
  return [...runs.slice(0, last), { ...run, text, cells: run.cells - (run.text.length - text.length) }];
}
