import { type Screen, STANDARD_TOOLS } from "@codex/executor-protocol";
import type { ScreenView } from "../screen/screen.js";
import { renderOutcome } from "../sessions/render.js";
import type { Session } from "../sessions/session.js";
import { quote } from "../text.js";
import { asArguments, findOwner, getCount } from "./arguments.js";
import type { SessionTool } from "./session-tool.js";

export const readScreen: SessionTool = {
  spec: STANDARD_TOOLS.read_screen,
  async call(args, unifiedExec, scope) {
    const given = asArguments(args);
    const id = getCount(given, "session_id");
    const owner = findOwner(scope, unifiedExec, id);
    const session = owner.table.find(id, scope.client);
    const view = await owner.screens.read(session, scope.signal, given.styled === true);
    const { outcome, closed } = session.state;
    const rows = dropBlankEnd(view.rows);
    const structured = { sessionId: id, ...view, rows, outcome, closed } satisfies Screen;
    const text = `${renderHeader(session, view)}\n${rows.join("\n")}`;
    return { status: "success", content: [{ type: "input_text", text }], structured };
  },
};

function dropBlankEnd(rows: readonly string[]): string[] {
  return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
}

function renderHeader(session: Session, { size, cursor, title, alternate, modes, gone }: ScreenView): string {
  const kind = alternate ? ", alternate screen" : "";
  const set: string[] = MODE_NAMES.filter(([mode]) => modes[mode]).map(([, name]) => name);
  if (modes.mouseTrackingMode !== "none") set.push("mouse tracking");
  const lines = [
    `Session ${session.id}: ${size.rows} rows, ${size.cols} columns${kind}`,
    renderOutcome(session.state.outcome, session.id),
    ...(title === "" ? [] : [`Title: ${quote(title)}`]),
    `Cursor: row ${cursor.row}, column ${cursor.col}${cursor.visible ? "" : ", hidden"}`,
    ...(set.length === 0 ? [] : [`Modes: ${set.join(", ")}`]),
    ...gone.map(({ from, to }) => `Bytes ${from}-${to} of its output are gone: their effect on the screen is missing`),
    "Screen:",
  ];
  return lines.join("\n");
}

/** Modes that change the input that a program expects. */
const MODE_NAMES = [
  ["bracketedPasteMode", "bracketed paste"],
  ["applicationCursorKeysMode", "application cursor keys"],
  ["applicationKeypadMode", "application keypad"],
] as const;
