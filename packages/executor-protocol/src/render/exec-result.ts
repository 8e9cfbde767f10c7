import { quote } from "@codex/values";
import type { ProgramReport } from "../exec-gate.js";
import type { UnifiedExecResult } from "../unified-exec-result.js";
import { renderGone, renderOutcome } from "./output.js";

/** One field per line, then the rendered output, verbatim. */
export function renderExecResult(result: UnifiedExecResult, output: string): string {
  const { chunkId, wallTimeSeconds, outcome, exitCode, originalTokenCount, shown } = result;
  const lines = [
    `Chunk ID: ${chunkId}`,
    `Wall time: ${wallTimeSeconds.toFixed(4)} seconds`,
    renderOutcome(outcome, { sessionId: shown?.sessionId, exitCode }),
    `Original token count: ${originalTokenCount}`,
    ...listNotices(result).map((notice) => `Note: ${notice}`),
    ...describeStopped(result.programs),
    "Output:",
  ];
  return `${lines.join("\n")}\n${renderCut(result)}${output}`;
}

/** A line for each program that was not started, or ended before it ran. */
export const describeStopped = (programs: readonly ProgramReport[] = []): string[] =>
  programs.filter(isStopped).map(renderStopped);

const isStopped = ({ decision }: ProgramReport): boolean => decision !== "inside";

/** `Refused: curl https://example.com (rule ["curl"] (default.rules:3))`. */
function renderStopped({ program, argv, decision, reason, rule, times }: ProgramReport): string {
  const words = argv.length === 0 ? program : argv.join(" ");
  const said = reason === "rule" || rule === undefined ? "" : `, ${STOP_REASONS[reason]}`;
  const why = rule === undefined ? STOP_REASONS[reason] : `rule ${quote(rule)}${said}`;
  const often = times > 1 ? `, ${times} times` : "";
  return `${decision === "killed" ? "Ended before it ran" : "Refused"}: ${quote(words)} (${why}${often})`;
}

const STOP_REASONS: Readonly<Record<ProgramReport["reason"], string>> = {
  rule: "a rule",
  unasked: "nobody could be asked",
  declined: "declined",
  unanswered: "there was no answer in time",
  not_outside: "a rule starts it outside of the sandbox, which is not possible here",
  hidden: "its caller hides its memory",
  unresolved: "its file was not found",
  unverified: "it could not be compared with what was judged",
  changed: "it was another program, or had other arguments, than what was judged",
};

/** What there is to say besides the outcome, one sentence each. */
export function listNotices({ notices = [], outcome, closed, range, shown }: UnifiedExecResult): string[] {
  if (outcome.kind === "running" || closed || shown?.sessionId === undefined) return notices;
  const why = shown.heldOpen
    ? "a process that it left behind has its output open"
    : "its output may not be complete yet";
  return [...notices, `${why}; read_output with session_id ${shown.sessionId} and from ${range.to} reads later output`];
}

/** The warning before output of which some was left out. */
function renderCut({ omitted, originalTokenCount, shown }: UnifiedExecResult): string {
  if (omitted.length === 0) return "";
  const bytes = omitted.reduce((sum, { from, to }) => sum + to - from, 0);
  const size = shown?.lines === undefined ? `... ${bytes} bytes omitted ...` : `Total output lines: ${shown.lines}`;
  const ranges = omitted.map((part) =>
    part.reason === "budget"
      ? `Bytes ${part.from}-${part.to} were left out: read_output with session_id ${shown?.sessionId} and from ${part.from} reads them`
      : renderGone(part, shown?.evictionReason),
  );
  return [`Warning: truncated output (original token count: ${originalTokenCount})`, size, ...ranges, "", ""].join(
    "\n",
  );
}
