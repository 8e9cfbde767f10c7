import { createOutputLog, type OutputLogLimits } from "@codex/exec-backend";
import type { TerminalSize } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { MAX_SCREEN_CELLS, MAX_STYLED_RUNS, SCREEN_RENDER_MS, SCREEN_TURN_MS } from "../../src/limits.js";
import { Screen, type ScreenView } from "../../src/screen/screen.js";
import { SizeHistory } from "../../src/screen/size-history.js";
import { loadTerminal } from "../../src/screen/terminal.js";
import { createRandom } from "../support/random.js";

const SIZE: TerminalSize = { rows: 6, cols: 20 };
const NEVER = new AbortController().signal;

/** A terminal whose program a test plays. */
async function open(size = SIZE, limits: Partial<OutputLogLimits> = {}, now = () => performance.now()) {
  const log = createOutputLog({ headBytes: 65_536, tailBytes: 65_536, spillBytes: 0, spillDir: "/nowhere", ...limits });
  const sizes = new SizeHistory(size);
  const screen = new Screen((await loadTerminal())(size), log, sizes, now);
  const print = (text: string | Uint8Array) => void log.append("pty", Buffer.from(text as string));
  const resize = (next: TerminalSize) => sizes.add({ offset: log.end, at: 0, size: next });
  return { log, print, resize, read: () => read(screen), screen };
}

async function read(screen: Screen): Promise<ScreenView> {
  const view = await screen.read(NEVER, SCREEN_RENDER_MS);
  if (view === undefined) throw new Error(`gave up at byte ${screen.position}`);
  return view;
}

const shown = ({ rows }: ScreenView) => rows.join("\n").trimEnd();

describe("a screen", () => {
  it("shows text where the program put it, and the cursor", async () => {
    const { print, read } = await open();
    print("hello\r\n\x1b[4;8Hworld   \x1b[2;3H");
    expect(await read()).toMatchObject({
      rows: ["hello", "", "", "       world", "", ""],
      cursor: { row: 2, col: 3, visible: true },
      size: SIZE,
      alternate: false,
      title: "",
      gone: [],
    });
  });

  it.each([
    ["an emoji of Unicode 6", "\u2705", 2],
    ["an emoji of Unicode 12", "\u{1fa70}", 2],
    ["an emoji of Unicode 15", "\u{1fae8}", 2],
    ["a flag of two regional indicators", "\u{1f1e9}\u{1f1ea}", 2],
    ["a letter of Khitan", "\u{18b00}", 2],
    ["a Hiragana letter of Unicode 14", "\u{1b132}", 2],
    ["a symbol that is no emoji", "\u{1f5f9}", 1],
    ["a Latin letter", "ä", 1],
    ["a combining mark of Unicode 14", "x\u0898", 1],
    ["a mark of variation", "x\u{e0100}", 1],
  ])("has %s as wide as programs do", async (_name, character, columns) => {
    const { print, read } = await open();
    print(`${character}\x1b[${columns + 1}GB`);
    expect(shown(await read())).toBe(`${character}B`);
    print(`\r\n${character}`);
    expect((await read()).cursor.col).toBe(columns + 1);
  });

  it("goes on from where it was", async () => {
    const { print, read } = await open();
    print("one\r\n");
    expect(shown(await read())).toBe("one");
    print("two\r\n");
    expect(shown(await read())).toBe("one\ntwo");
    expect(shown(await read())).toBe("one\ntwo");
  });

  it("forgets what scrolled away", async () => {
    const { print, read } = await open();
    print(Array.from({ length: 100 }, (_, index) => `line ${index}\r\n`).join(""));
    expect(shown(await read())).toBe("line 95\nline 96\nline 97\nline 98\nline 99");
  });

  it("tells title, alternate screen, hidden cursor and modes", async () => {
    const { print, read } = await open();
    print("shell\x1b]0;a title\x07\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1h\x1b[?1000h\x1b[HEDITOR");
    expect(await read()).toMatchObject({
      title: "a title",
      alternate: true,
      cursor: { visible: false },
      modes: { bracketedPasteMode: true, applicationCursorKeysMode: true, mouseTrackingMode: "vt200" },
    });
    print("\x1b[?1049l\x1b[?25h");
    const after = await read();
    expect([shown(after), after.alternate, after.cursor.visible]).toEqual(["shell", false, true]);
    print("\x1b[?25l\x1bc");
    expect((await read()).cursor.visible).toBe(true);
  });

  it("puts a character that would wrap on the last column", async () => {
    const { print, read } = await open();
    print("x".repeat(20));
    expect((await read()).cursor).toMatchObject({ row: 1, col: 20 });
  });

  it("shows wide and combined characters", async () => {
    const { print, read } = await open();
    print("漢字e\u0301🙂|");
    const view = await read();
    expect([shown(view), view.cursor.col]).toEqual(["漢字e\u0301🙂|", 9]);
  });

  it("has each size from the byte on at which it began", async () => {
    const { print, resize, read } = await open();
    print(`${"a".repeat(20)}b`);
    resize({ rows: 6, cols: 30 });
    print(`\x1b[2J\x1b[H${"c".repeat(25)}`);
    const view = await read();
    expect([shown(view), view.size]).toEqual(["c".repeat(25), { rows: 6, cols: 30 }]);
    resize({ rows: 3, cols: 10 });
    expect((await read()).size).toEqual({ rows: 3, cols: 10 });
  });

  it("passes over a size that is too large to render", async () => {
    const { print, resize, read } = await open();
    print("small");
    resize({ rows: 65_535, cols: 65_535 });
    print("\x1b[2J\x1b[Hhuge");
    resize(SIZE);
    expect(shown(await read())).toBe("huge");
  });

  it("tells what was not retained, and goes on behind it", async () => {
    const { log, print, read } = await open(SIZE, { headBytes: 32, tailBytes: 64 });
    print("\x1b[?1049hfirst\r\n\x1b[31");
    for (let index = 0; index < 50; index += 1) print("\x1b[2J\x1b[H漢字");
    // The tail begins in the middle of a sequence, and of a character.
    print("\x1b[2J\x1b[Hlast");
    const view = await read();
    expect(view).toMatchObject({ alternate: true, gone: [{ from: 32, to: expect.any(Number) }] });
    expect(shown(view)).toBe("last");
    expect(view.gone[0]!.to).toBeGreaterThan(log.end - 128);
  });

  it("does not let a lost part join what is around it", async () => {
    const { print, read } = await open(SIZE, { headBytes: 8, tailBytes: 8 });
    print("ab\x1b]0;t");
    print("lost lost");
    print(Uint8Array.of(0xad, 0x97, 0x63, 0x64));
    const view = await read();
    expect([shown(view), view.title, view.gone]).toEqual(["abcd", "", [{ from: 7, to: 16 }]]);
  });
});

describe("the same bytes in other chunks", () => {
  const random = createRandom(20_240_601);
  const PARTS = [
    "text ",
    "\r\n",
    "\x1b[2J",
    "\x1b[3;4H",
    "\x1b[31;1m",
    "\x1b[0m",
    "漢字",
    "e\u0301",
    "👩‍👩‍👧",
    "\x1b]2;title é\x1b\\",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[2L",
    "\x1b[999M",
    "\x1b[5b",
    "\t",
    "\x1b[2;5r",
    "\x1bM",
    "\xc2\x9b2K",
    "\x1b[?2004h",
    "\x1bP$q\x1b\\",
    "\b\b",
  ];
  const cases = Array.from({ length: 60 }, (_, index) => ({ index }));

  it.each(cases)("make the same screen ($index)", async () => {
    const bytes = Buffer.concat(
      Array.from({ length: 1 + random(400) }, () =>
        random(20) === 0 ? Buffer.from([random(256), random(256)]) : Buffer.from(PARTS[random(PARTS.length)]!),
      ),
    );
    const whole = await open();
    const cut = await open();
    const resizes = [random(bytes.length), random(bytes.length)].sort((a, b) => a - b);
    let from = 0;
    for (const [index, at] of [...resizes, bytes.length].entries()) {
      whole.print(bytes.subarray(from, at));
      while (from < at) {
        const size = Math.min(at - from, 1 + random(9));
        cut.print(bytes.subarray(from, from + size));
        from += size;
        if (random(10) === 0) await cut.read();
      }
      if (index === 2) break;
      const size = { rows: 2 + random(8), cols: 2 + random(40) };
      whole.resize(size);
      cut.resize(size);
    }
    expect(await cut.read()).toEqual(await whole.read());
  });
});

describe("a hostile program", () => {
  const NUMBERS = ["2147483647"];
  const FINALS = Array.from({ length: 0x7f - 0x40 }, (_, index) => String.fromCharCode(0x40 + index));

  it("cannot make one sequence take long", async () => {
    const { print, read } = await open();
    // Each of these would run for hours, or take gigabytes, if xterm.js did it as often as it says.
    for (const prefix of ["", "?", ">", "="]) {
      for (const middle of ["", " ", "!", '"', "$", "'", "*"]) {
        for (const final of FINALS) {
          for (const number of NUMBERS) print(`a\x1b[${prefix}${number};${number}${middle}${final}`);
        }
      }
    }
    print("\x18\x1bc\x1b[2J\x1b[Hstill here");
    expect(shown(await read())).toBe("still here");
  });

  it("has runs of one style and one width, without what shows nothing at the ends", async () => {
    const { print, screen } = await open();
    print("a\x1b[1;31mb\x1b[0;38;5;200mc\x1b[0;48;2;1;2;255m \x1b[0m  \r\n日本x\r\n\x1b[2;3;7;9;4mz\x1b[8msecret");
    const view = await screen.read(NEVER, SCREEN_RENDER_MS, true);
    expect(view?.styledRows).toEqual([
      [
        { text: "a", cells: 1 },
        { text: "b", cells: 1, fg: 1, bold: true },
        { text: "c", cells: 1, fg: 200 },
        { text: " ", cells: 1, bg: "#0102ff" },
      ],
      [
        { text: "日本", cells: 4 },
        { text: "x", cells: 1 },
      ],
      [{ text: "z      ", cells: 7, dim: true, italic: true, underline: true, inverse: true, strikethrough: true }],
    ]);
    expect(await read(screen)).not.toHaveProperty("styledRows");
  });

  it("has at most so many styled runs, and all of its text", async () => {
    const { print, screen } = await open({ rows: 500, cols: 100 }, { tailBytes: 1_000_000 });
    for (let row = 0; row < 500; row += 1) print(Array.from({ length: 100 }, (_, at) => `\x1b[3${at % 7}mx`).join(""));
    const runs = (await screen.read(NEVER, SCREEN_RENDER_MS, true))!.styledRows!.flat();
    expect(runs.filter(({ fg }) => fg !== undefined)).toHaveLength(MAX_STYLED_RUNS);
    expect(runs.reduce((sum, { text }) => sum + text.length, 0)).toBe(50_000);
  });

  it("lets everything else have its turn after each piece that takes long, and writes smaller ones", async () => {
    let ms = 0;
    const { log, print, screen } = await open({ rows: 100, cols: 100 }, {}, () => {
      ms += SCREEN_TURN_MS; // each look at the clock finds that a whole turn has passed
      return ms;
    });
    for (let index = 0; index < 8; index += 1) print("\x1b[H\x1b[100L".repeat(200));
    let turns = 0;
    const count = () => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await screen.read(NEVER, Number.POSITIVE_INFINITY);
    clearImmediate(timer);
    // Pieces are halved down to 16 bytes, so that nearly all of the output is written in such.
    expect(turns).toBeGreaterThan(log.end / 32);
    expect(turns).toBeLessThan(log.end / 8);
  });

  it("is given up for now, and gone on with by the next call", async () => {
    const { log, print, screen } = await open();
    print("x".repeat(100_000));
    expect(await screen.read(NEVER, 0)).toBeUndefined();
    const aborted = AbortSignal.abort();
    expect(await screen.read(aborted, SCREEN_RENDER_MS)).toBeUndefined();
    expect(screen.position).toBeLessThan(log.end);
    expect((await read(screen)).upTo).toBe(log.end);
  });

  it("cannot make a row or a title of any length", async () => {
    const { print, read } = await open();
    print(`a${"\u0301".repeat(10_000)}\x1b]0;${"t".repeat(10_000)}\x07`);
    const { rows, title } = await read();
    expect(rows[0]!.length).toBeLessThanOrEqual(80);
    expect(title).toHaveLength(256);
  });
});

it("is rendered up to this many cells", () => {
  expect(MAX_SCREEN_CELLS).toBe(250_000);
});
