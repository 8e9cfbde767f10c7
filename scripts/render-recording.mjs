// node scripts/render-recording.mjs IN.cast OUT.svg: draws an asciicast (v3) as an SVG that plays by itself.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const { Terminal } = createRequire(new URL("../packages/executor/package.json", import.meta.url))("@xterm/headless");

const CELL_WIDTH = 8.4;
const LINE_HEIGHT = 18;
const PADDING = 14;
const FONT_SIZE = 14;
/** Longer silence is shortened to this; seconds. */
const MAX_PAUSE_S = 2;
/** How long the last picture stays; seconds. */
const LAST_PICTURE_S = 6;
/** Events closer together than this make one picture; seconds. */
const MIN_PICTURE_S = 0.03;

const FONTS = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace';
/** Black, red, green, yellow, blue, magenta, cyan, white; the bright ones are the same. */
const LIGHT = ["#57606a", "#b3202a", "#116329", "#7d4e00", "#0757ba", "#6f3fbe", "#0f6a78", "#57606a"];
const DARK = ["#8b949e", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#b1bac4"];

const [input, output] = process.argv.slice(2);
if (output === undefined) throw new Error("usage: render-recording.mjs IN.cast OUT.svg");

const [header, ...events] = readFileSync(input, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const { cols, rows } = header.term;
const { spans, seconds, usedRows } = await play();
writeFileSync(output, render());

/** Each line of the screen with the times at which it appeared and disappeared; seconds. */
async function play() {
  const terminal = new Terminal({ cols, rows, allowProposedApi: true });
  const write = (text) => new Promise((resolve) => terminal.write(text, resolve));
  const open = Array.from({ length: rows }, () => ({ text: "", from: 0 }));
  const ended = [];
  let now = 0;
  const takePicture = () => {
    for (const [row, line] of open.entries()) {
      const text = renderLine(terminal.buffer.active.getLine(terminal.buffer.active.viewportY + row));
      if (text === line.text) continue;
      if (line.text !== "") ended.push({ row, ...line, to: now });
      open[row] = { text, from: now };
    }
  };
  let pictureAt = 0;
  for (const [interval, kind, data] of events) {
    const pause = Math.min(interval, MAX_PAUSE_S);
    if (now + pause - pictureAt > MIN_PICTURE_S) {
      takePicture();
      pictureAt = now + pause;
    }
    now += pause;
    if (kind === "o") await write(data);
    if (kind === "r") terminal.resize(...data.split("x").map(Number));
  }
  takePicture();
  const seconds = now + LAST_PICTURE_S;
  const last = open.flatMap((line, row) => (line.text === "" ? [] : [{ row, ...line, to: undefined }]));
  const spans = [...ended.filter(({ from, to }) => to > from), ...last];
  return { spans, seconds, usedRows: Math.max(...spans.map(({ row }) => row)) + 1 };
}

/** A line of the screen as SVG, one `tspan` for each run of cells with the same style. */
function renderLine(line) {
  const runs = [];
  for (let column = 0; column < cols; column++) {
    const cell = line.getCell(column);
    if (cell.getWidth() === 0) continue;
    const classes = [
      cell.isFgPalette() && cell.getFgColor() < 16 ? `c${cell.getFgColor()}` : "",
      cell.isBold() ? "b" : "",
      cell.isDim() ? "d" : "",
      cell.isUnderline() ? "u" : "",
    ];
    const style = classes.filter(Boolean).join(" ");
    const text = cell.getChars() || " ";
    const run = runs.at(-1);
    if (run?.style === style && cell.getWidth() === 1) {
      run.text += text;
      run.cells += 1;
    } else runs.push({ column, style, text, cells: cell.getWidth() });
  }
  const last = runs.at(-1);
  if (last !== undefined) last.text = last.text.trimEnd();
  return runs
    .filter(({ text }) => text.trim() !== "")
    .map(({ column, style, text }) => {
      const lead = text.length - text.trimStart().length;
      const shown = text.trim();
      const x = round((column + lead) * CELL_WIDTH + PADDING);
      const width = round(shown.length * CELL_WIDTH);
      return `<tspan x="${x}" textLength="${width}"${style === "" ? "" : ` class="${style}"`}>${escapeXml(shown)}</tspan>`;
    })
    .join("");
}

function render() {
  const width = round(cols * CELL_WIDTH + 2 * PADDING);
  const height = usedRows * LINE_HEIGHT + 2 * PADDING;
  const animations = new Map();
  const texts = spans.map((span) => renderSpan(span, animations));
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeXml(header.title ?? header.command ?? "A terminal recording")}</title>
<style>
text{font:${FONT_SIZE}px ${FONTS};fill:#1f2328;visibility:hidden;animation:${round(seconds)}s step-end infinite}
rect{fill:#f6f8fa;stroke:#d1d9e0}.l{visibility:visible}.b{font-weight:bold}.d{opacity:.65}.u{text-decoration:underline}
${renderPalette(LIGHT)}
@media(prefers-color-scheme:dark){rect{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}
${renderPalette(DARK)}}
${[...animations.values()].join("\n")}
@media(prefers-reduced-motion:reduce){text{animation:none}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join("\n")}
</svg>
`;
}

/** Lines that appear and disappear together share an animation. */
function renderSpan({ row, text, from, to }, animations) {
  const percent = (time) => round((100 * time) / seconds);
  const end = to === undefined ? "" : `${percent(to)}%{visibility:hidden}`;
  const frames = `{0%{visibility:hidden}${percent(from)}%{visibility:visible}${end}}`;
  const name = [...animations.keys()].indexOf(frames);
  const id = `k${name < 0 ? animations.size : name}`;
  if (name < 0) animations.set(frames, `@keyframes ${id}${frames}.${id}{animation-name:${id}}`);
  const y = PADDING + FONT_SIZE + row * LINE_HEIGHT;
  return `<text y="${y}" class="${to === undefined ? "l " : ""}${id}">${text}</text>`;
}

function renderPalette(colors) {
  return colors.map((color, index) => `.c${index},.c${index + 8}{fill:${color}}`).join("");
}

function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function round(number) {
  return Math.round(number * 100) / 100;
}
