import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { SerializeAddon } from "@xterm/addon-serialize";
import { Terminal } from "@xterm/xterm";
import type { SessionEntity } from "../../src/wire/entities.ts";
import { readTheme } from "./theme.ts";

/** A terminal that shows one session. */
export interface SessionTerminal {
  readonly element: HTMLElement;
  readonly search: SearchAddon;
  /** Calls `shown` when the bytes are on the screen. */
  write(bytes: Uint8Array | string, shown?: () => void): void;
  resize(size: SessionEntity["size"]): void;
  setTyping(isOn: boolean): void;
  focus(): void;
  readonly selection: string;
  /** The screen and scrollback, as output that restores them. */
  serialize(): string;
  dispose(): void;
}

/** Events of a terminal. */
export interface TerminalEvents {
  typed(text: string): void;
  /** A link in the output was activated. */
  link(url: string): void;
  /** F6 was pressed: move the focus out of the terminal. */
  leave(): void;
}

const SCROLLBACK = 5000;
/** More output than this within `BURST_MS` is a burst, which nobody can read, bytes. */
const BURST_BYTES = 128 * 1024;
const BURST_MS = 500;
/** Font size, pixels. A terminal that is too wide even with the smallest font is scrolled. */
const MAX_FONT = 13;
const MIN_FONT = 9;

/** Queries that a terminal would answer with input. A viewer must not answer a program. */
const REPORTS = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { prefix: ">", final: "q" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  { final: "t" },
  { prefix: "?", final: "u" },
];

export function createTerminal(session: SessionEntity, events: TerminalEvents): SessionTerminal {
  let types = false;
  const terminal = new Terminal({
    convertEol: !session.tty,
    disableStdin: true,
    cursorBlink: false,
    scrollback: SCROLLBACK,
    screenReaderMode: true,
    fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    fontSize: MAX_FONT,
    theme: readTheme(),
    linkHandler: { activate: (_event, url) => events.link(url) },
    minimumContrastRatio: 4.5,
    ...(session.size === undefined ? {} : session.size),
  });
  const fit = new FitAddon();
  const search = new SearchAddon();
  const serializer = new SerializeAddon();
  for (const addon of [fit, search, serializer]) terminal.loadAddon(addon);
  for (const id of REPORTS) terminal.parser.registerCsiHandler(id, () => true);
  terminal.parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true);
  for (const number of [4, 10, 11, 12, 52])
    terminal.parser.registerOscHandler(number, (data) => number === 52 || data.includes("?"));
  terminal.onData((text) => types && events.typed(text));
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key === "F6") {
      if (event.type === "keydown") events.leave();
      return false;
    }
    // While typing is off, the page handles keys: Tab moves the focus, and text can be copied.
    return types;
  });
  const accessibility = pauseAccessibility(terminal);
  const element = document.createElement("div");
  element.className = "screen";
  let opened = false;
  const open = () => {
    if (opened) return;
    opened = true;
    terminal.open(element);
  };
  const observer = new ResizeObserver(() => {
    open();
    if (!session.tty) fit.fit();
    else fitFont(terminal, element);
  });
  observer.observe(element);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const onScheme = () => {
    terminal.options.theme = readTheme();
  };
  scheme.addEventListener("change", onScheme);
  return {
    element,
    search,
    write(bytes, shown) {
      accessibility.written(bytes.length);
      terminal.write(bytes, shown);
    },
    resize(size) {
      if (!session.tty || size === undefined) return;
      if (size.rows === terminal.rows && size.cols === terminal.cols) return;
      terminal.resize(size.cols, size.rows);
      if (opened) fitFont(terminal, element);
    },
    setTyping(isOn) {
      types = isOn;
      terminal.options.disableStdin = !isOn;
      terminal.options.cursorBlink = isOn;
    },
    focus: () => terminal.focus(),
    get selection() {
      return terminal.getSelection();
    },
    serialize: () => serializer.serialize({ scrollback: 1000 }),
    dispose() {
      scheme.removeEventListener("change", onScheme);
      accessibility.dispose();
      observer.disconnect();
      terminal.dispose();
    },
  };
}

/** Updating the accessibility tree takes most of the time in a burst, so it is paused until the burst is over. */
function pauseAccessibility(terminal: Terminal) {
  let recent = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settle = () => {
    timer = undefined;
    const isOver = recent < BURST_BYTES;
    recent = 0;
    if (!isOver) timer = setTimeout(settle, BURST_MS);
    else if (terminal.options.screenReaderMode !== true) terminal.options.screenReaderMode = true;
  };
  return {
    written(bytes: number) {
      recent += bytes;
      timer ??= setTimeout(settle, BURST_MS);
      if (recent >= BURST_BYTES && terminal.options.screenReaderMode === true)
        terminal.options.screenReaderMode = false;
    },
    dispose: () => clearTimeout(timer),
  };
}

/** The terminal has the size of the session: the font size is chosen so that its columns fit. */
function fitFont(terminal: Terminal, element: HTMLElement): void {
  const width = element.clientWidth - 16;
  if (width <= 0) return;
  const perColumn = 0.602; // width of a character of these fonts, in font sizes
  const size = Math.max(MIN_FONT, Math.min(MAX_FONT, Math.floor((width / terminal.cols / perColumn) * 2) / 2));
  if (terminal.options.fontSize !== size) terminal.options.fontSize = size;
}
