import type { StyledRun, StyledScreen } from "@codex/executor-protocol";
import { getColors, SCREEN } from "./colors.js";

/** Width and height of a cell, and size of the font, pixels. */
const CELL = { width: 8.4, height: 17, font: 14, baseline: 13 };
const PADDING = 16;
const TITLE_HEIGHT = 34;
const RADIUS = 10;
const FONTS =
  "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', 'Noto Sans Mono', 'Noto Sans Mono CJK SC', 'Noto Color Emoji', monospace";

/** The screen in a window, as SVG. It is self-contained: no script, no font and no other file. */
export function renderSvg({ size, cursor, title, outcome, styledRows }: StyledScreen, heading = title): string {
  const width = Math.ceil(size.cols * CELL.width) + 2 * PADDING;
  const height = size.rows * CELL.height + TITLE_HEIGHT + 2 * PADDING;
  const rows = styledRows.map((runs, row) => renderRow(runs, row));
  const hasCursor = cursor.visible && outcome.kind === "running";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeText(heading === "" ? "Terminal" : heading)}</title>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="${RADIUS}" fill="${SCREEN.background}" stroke="${SCREEN.edge}"/>`,
    renderBar(heading, width),
    `<g transform="translate(${PADDING} ${TITLE_HEIGHT + PADDING})" font-family="${FONTS}" font-size="${CELL.font}" xml:space="preserve">`,
    ...rows.map(({ backgrounds }) => backgrounds),
    hasCursor ? renderCursor(cursor) : "",
    ...rows.map(({ texts }) => texts),
    "</g></svg>",
  ]
    .filter((line) => line !== "")
    .join("\n")
    .concat("\n");
}

function renderBar(heading: string, width: number): string {
  const edge = `M0.5 ${TITLE_HEIGHT}V${RADIUS}a${RADIUS} ${RADIUS} 0 0 1 ${RADIUS} ${0.5 - RADIUS}H${width - RADIUS}a${RADIUS} ${RADIUS} 0 0 1 ${RADIUS - 0.5} ${RADIUS - 0.5}V${TITLE_HEIGHT}z`;
  const dots = [0, 1, 2].map(
    (at) => `<circle cx="${PADDING + 6 + at * 18}" cy="${TITLE_HEIGHT / 2}" r="5.5" fill="${SCREEN.edge}"/>`,
  );
  const most = Math.max(0, Math.floor((width - 180) / (CELL.width * 0.9)));
  const text = shorten(heading, most);
  return [
    `<path d="${edge}" fill="${SCREEN.frame}"/>`,
    ...dots,
    text === ""
      ? ""
      : `<text x="${width / 2}" y="${TITLE_HEIGHT / 2 + 4.5}" text-anchor="middle" font-family="${FONTS}" font-size="12.5" fill="${SCREEN.faint}">${escapeText(text)}</text>`,
  ].join("");
}

function shorten(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, Math.max(0, most - 1)).join("")}…`;
}

function renderRow(runs: readonly StyledRun[], row: number): { backgrounds: string; texts: string } {
  const backgrounds: string[] = [];
  const texts: string[] = [];
  const top = row * CELL.height;
  let col = 0;
  for (const run of runs) {
    const x = round(col * CELL.width);
    const width = round(run.cells * CELL.width);
    const { fg, bg } = getColors(run);
    if (bg !== undefined) {
      backgrounds.push(
        `<rect x="${x}" y="${top}" width="${width}" height="${CELL.height}" fill="${bg}" shape-rendering="crispEdges"/>`,
      );
    }
    const isEmpty = run.text.trim() === "" && run.underline !== true && run.strikethrough !== true;
    if (!isEmpty) texts.push(renderText(run, fg, { x, y: round(top + CELL.baseline), width }));
    col += run.cells;
  }
  return { backgrounds: backgrounds.join(""), texts: texts.join("") };
}

function renderText(run: StyledRun, fg: string, { x, y, width }: { x: number; y: number; width: number }): string {
  const lines = [run.underline && "underline", run.strikethrough && "line-through"].filter(Boolean).join(" ");
  const style = [
    `fill="${fg}"`,
    run.bold ? 'font-weight="700"' : "",
    run.italic ? 'font-style="italic"' : "",
    run.dim ? 'opacity="0.6"' : "",
    lines === "" ? "" : `text-decoration="${lines}"`,
  ];
  // Columns keep their positions, whatever the font.
  const place = `x="${x}" y="${y}" textLength="${width}" lengthAdjust="spacingAndGlyphs"`;
  return `<text ${[place, ...style].filter((part) => part !== "").join(" ")}>${escapeText(run.text)}</text>`;
}

function renderCursor({ row, col }: { row: number; col: number }): string {
  const x = round((col - 1) * CELL.width);
  const y = (row - 1) * CELL.height;
  return `<rect x="${x}" y="${y}" width="${CELL.width}" height="${CELL.height}" fill="${SCREEN.text}" opacity="0.45"/>`;
}

const round = (value: number): number => Math.round(value * 100) / 100;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** Characters that are not allowed in XML, or would change the direction of the text around them. */
const UNFIT = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const escapeText = (text: string): string =>
  text.replace(UNFIT, "\uFFFD").replace(/[&<>"]/g, (found) => ENTITIES[found]!);
