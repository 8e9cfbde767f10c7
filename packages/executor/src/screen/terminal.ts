import type { StyledRun, TerminalSize } from "@codex/executor-protocol";
import { cutEnd, messageOf } from "@codex/values";
import type { IModes, Terminal } from "@xterm/headless";
import { readStyledRows } from "./styled-rows.js";
import { createWidths } from "./widths.js";

/** A terminal without a display. It never responds to a program, and has no effect on the host. */
export interface HeadlessTerminal {
  /** Processes output synchronously. @throws Error when rendering failed; the terminal cannot be used any more */
  write(bytes: Uint8Array): void;
  /** Marks a gap in the output: an incomplete sequence or character does not continue after it. */
  skip(): void;
  resize(size: TerminalSize): void;
  /** @param styled with `styledRows` */
  read(styled: boolean): ScreenContent;
}

export interface ScreenContent {
  /** Text of each row, without the blanks at its end. */
  rows: string[];
  /** Row and column count from 1. */
  cursor: { row: number; col: number; visible: boolean };
  /** As the program set it; empty when it did not. */
  title: string;
  alternate: boolean;
  modes: IModes;
  /** The rows with colors. */
  styledRows?: StyledRun[][];
}

/** The internals of xterm.js that are used here, checked when a terminal is created. */
interface Core {
  writeSync(text: string): void;
  /** Handlers can modify the parameters; the last registered handler is called first. */
  registerCsiHandler(
    id: { prefix?: string; final: string },
    handler: (params: { length: number; params: Int32Array }) => boolean,
  ): void;
}

/** Loads xterm.js, with the first terminal. */
export async function loadTerminal(): Promise<(size: TerminalSize) => HeadlessTerminal> {
  const [{ default: xterm }, { default: unicode }] = await Promise.all([
    import("@xterm/headless"),
    import("@xterm/addon-unicode11"),
  ]);
  const widths = createWidths(new unicode.Unicode11Addon());
  return (size) => {
    const terminal = new xterm.Terminal({ ...size, ...OPTIONS });
    // By default, an emoji has one column in xterm.js, but two in programs and their libraries.
    terminal.unicode.register(widths);
    terminal.unicode.activeVersion = widths.version;
    return createTerminal(terminal);
  };
}

const OPTIONS = { scrollback: 0, allowProposedApi: true, logLevel: "off" } as const;

/** UTF-16 units of a title, and of a row for each of its cells: a cell takes any number of combining characters. */
const MAX_TITLE_LENGTH = 256;
const MAX_CELL_LENGTH = 4;

function createTerminal(terminal: Terminal): HeadlessTerminal {
  const core = coreOf(terminal);
  limitRepeats(terminal, core);
  const state = watchState(terminal, core);
  // The decoder of xterm.js loses some characters that are split, such as those with a byte 0x80.
  let decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const write = (text: string) => {
    try {
      core.writeSync(text);
    } catch (error) {
      throw new Error(`the output could not be rendered: ${messageOf(error)}`, { cause: error });
    }
  };
  return {
    write: (bytes) => write(decoder.decode(bytes, { stream: true })),
    skip() {
      decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      write(CANCEL);
    },
    resize({ rows, cols }) {
      if (rows !== terminal.rows || cols !== terminal.cols) terminal.resize(cols, rows);
    },
    read(styled) {
      const { active } = terminal.buffer;
      const rows = Array.from({ length: terminal.rows }, (_, row) => {
        const text = active.getLine(active.baseY + row)?.translateToString(true) ?? "";
        return cutEnd(text, terminal.cols * MAX_CELL_LENGTH).trimEnd();
      });
      // After the last column, before a wrap, the cursor is shown on the last column.
      const col = Math.min(active.cursorX + 1, terminal.cols);
      return {
        rows,
        cursor: { row: active.cursorY + 1, col, visible: state.cursorVisible },
        title: state.title,
        alternate: active.type === "alternate",
        modes: terminal.modes,
        ...(styled ? { styledRows: readStyledRows(active, terminal) } : {}),
      };
    },
  };
}

/** CAN: ends a control sequence whose rest is lost. */
const CANCEL = "\u0018";

function coreOf(terminal: Terminal): Core {
  const core: unknown = Reflect.get(terminal, "_core");
  const isFunction = (name: string) =>
    typeof core === "object" && core !== null && typeof Reflect.get(core, name) === "function";
  if (isFunction("writeSync") && isFunction("registerCsiHandler")) return core as Core; // as checked
  throw new Error("this version of @xterm/headless is not supported");
}

/**
 * Final bytes of sequences that repeat an action n times, which xterm.js does one by one for any n up to 2^31. More repetitions
 * than rows, columns or, for a repeated character, cells have no further effect.
 */
const REPEATING = ["I", "L", "M", "S", "T", "Z", "b"];

function limitRepeats(terminal: Terminal, core: Core): void {
  for (const final of REPEATING) {
    core.registerCsiHandler({ final }, ({ length, params }) => {
      const most = final === "b" ? terminal.rows * terminal.cols : Math.max(terminal.rows, terminal.cols);
      if (length > 0 && params[0]! > most) params[0] = most;
      return false; // the handler of xterm.js follows
    });
  }
}

/** Tracks title and cursor visibility, which xterm.js does not expose, and discards sequences whose state is not shown here. */
function watchState(terminal: Terminal, core: Core): { title: string; cursorVisible: boolean } {
  const state = { title: "", cursorVisible: true };
  for (const code of [0, 2]) {
    terminal.parser.registerOscHandler(code, (title) => {
      state.title = cutEnd(title, MAX_TITLE_LENGTH);
      return true;
    });
  }
  for (const code of [ICON_NAME, HYPERLINK]) terminal.parser.registerOscHandler(code, () => true);
  for (const final of ["h", "l"]) {
    core.registerCsiHandler({ prefix: "?", final }, ({ length, params }) => {
      if (params.subarray(0, length).includes(SHOW_CURSOR)) state.cursorVisible = final === "h";
      return false;
    });
  }
  terminal.parser.registerEscHandler({ final: "c" }, () => {
    state.cursorVisible = true;
    return false;
  });
  return state;
}

const ICON_NAME = 1;
const HYPERLINK = 8;
/** The private mode DECTCEM. */
const SHOW_CURSOR = 25;
