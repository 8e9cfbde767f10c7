import { quote } from "@codex/values";
import { describeUse, type ResourceUse } from "../resource-limits.js";
import type { KilledSession, OutputPart, Screen, SessionList } from "../tool-results.js";
import type { Shown } from "../unified-exec-result.js";
import { renderGone, renderOutcome, renderOutput } from "./output.js";

export function renderSessionList({ sessions }: SessionList): string {
  const lines = sessions.map(
    ({ sessionId, state, seconds, unreadBytes, use, cwd, command }) =>
      `session ${sessionId}: ${state}, ${seconds.toFixed(1)} seconds, ${unreadBytes} bytes unread${renderUse(use)}, in ${cwd}: ${command}`,
  );
  return lines.length === 0 ? "There are no sessions." : lines.join("\n");
}

const renderUse = (use: ResourceUse = {}): string =>
  describeUse(use)
    .map((part) => `, ${part}`)
    .join("");

export function renderKilledSession(killed: KilledSession, { exitCode }: Shown = {}): string {
  const { sessionId, running, members, strays, signals = [], gone, outcome, unreadBytes = 0 } = killed;
  if (outcome === undefined) return `Session ${sessionId} is being ended; the call was cancelled before it was gone.`;
  // A far host that cannot list processes, or whose answer was lost.
  const isUnknown = !gone && isAbsent(members);
  const rest = isUnknown
    ? "Whether all of them are gone is not known."
    : "Not all of them are gone: a process that it started still exists.";
  const lines = [
    `Session ${sessionId}: ${running ? "was running" : "had ended before"}`,
    renderOutcome(outcome, { sessionId, exitCode }),
    `Processes of its group: ${renderProcesses(members, killed.memberCount)}`,
    ...(strays?.length === 0
      ? []
      : [`Processes that had left its group: ${renderProcesses(strays, killed.strayCount)}`]),
    `Signals sent: ${signals.join(", ") || (isUnknown ? "none is known" : "none")}`,
    gone ? "All of them are gone." : rest,
  ];
  if (unreadBytes > 0) {
    lines.push(
      `${unreadBytes} bytes of its output were not read yet: write_stdin with session_id ${sessionId} reads them.`,
    );
  }
  return lines.join("\n");
}

const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;

function renderProcesses(processes: KilledSession["members"], count: number | null | undefined): string {
  if (isAbsent(processes)) return "not known on this host";
  const named = processes.map(({ pid, name }) => `${quote(name)} (pid ${pid})`);
  const more = (count ?? 0) - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ") || "none";
}

/** Without `shown`, it was read for programs, as it was recorded. */
export function renderOutputPart(part: OutputPart, shown?: Shown): string {
  const { sessionId, range, end, closed, outcome, gone, notices = [] } = part;
  if (shown === undefined) return `Session ${sessionId}: bytes ${range.from}-${range.to} of ${end}, as recorded`;
  const lines = [
    `Session ${sessionId}: bytes ${range.from}-${range.to} of ${end}${closed ? "" : " so far"}`,
    renderOutcome(outcome, { sessionId, exitCode: shown.exitCode }),
    ...gone.map((missing) => renderGone(missing, shown.evictionReason)),
    ...(range.to < end ? [`${end - range.to} bytes follow: read_output from ${range.to} reads them`] : []),
    ...notices.map((notice) => `Note: ${notice}`),
    "Output:",
  ];
  return `${lines.join("\n")}\n${renderOutput(range, shown.output)}`;
}

export function renderScreen(screen: Screen, { exitCode }: Shown = {}): string {
  const { sessionId, size, cursor, title, alternate, modes, gone, outcome, rows } = screen;
  const set: string[] = MODE_NAMES.filter(([mode]) => modes[mode]).map(([, name]) => name);
  if (modes.mouseTrackingMode !== "none") set.push("mouse tracking");
  const lines = [
    `Session ${sessionId}: ${size.rows} rows, ${size.cols} columns${alternate ? ", alternate screen" : ""}`,
    renderOutcome(outcome, { sessionId, exitCode }),
    ...(title === "" ? [] : [`Title: ${quote(title)}`]),
    `Cursor: row ${cursor.row}, column ${cursor.col}${cursor.visible ? "" : ", hidden"}`,
    ...(set.length === 0 ? [] : [`Modes: ${set.join(", ")}`]),
    ...gone.map(({ from, to }) => `Bytes ${from}-${to} of its output are gone: their effect on the screen is missing`),
    "Screen:",
  ];
  return `${lines.join("\n")}\n${rows.join("\n")}`;
}

/** Modes that change the input that a program expects. */
const MODE_NAMES = [
  ["bracketedPasteMode", "bracketed paste"],
  ["applicationCursorKeysMode", "application cursor keys"],
  ["applicationKeypadMode", "application keypad"],
] as const;
