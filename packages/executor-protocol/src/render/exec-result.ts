import { quote } from "@codex/values";
import type { ProgramReport } from "../exec-gate.js";
import type { NetworkDenial } from "../managed-network.js";
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
    ...describePrograms(result.programs),
    ...describeDeniedHosts(result.deniedHosts),
    "Output:",
  ];
  return `${lines.join("\n")}\n${renderCut(result)}${output}`;
}

/** A line for each program that did not simply run in its sandbox. */
export const describePrograms = (programs: readonly ProgramReport[] = []): string[] => programs.map(describeProgram);

/** A line for each host that a command was not let to. */
export const describeDeniedHosts = (hosts: readonly NetworkDenial[] = []): string[] => hosts.map(describeDeniedHost);

/** `Network: api.example:443 denied 3 times (not_allowed: no rule allows it)`. */
function describeDeniedHost({ host, port, reason, rule, answer, count }: NetworkDenial): string {
  const place = rule?.source === undefined ? "" : ` (${rule.source})`;
  const decided = answer === undefined ? undefined : STOP_REASONS[answer];
  const why =
    decided ?? (rule === undefined ? (DENY_REASONS[reason] ?? reason) : `rule ${quote(rule.pattern)}${place}`);
  const times = count === 1 ? "" : ` ${count} times`;
  const name = host.includes(":") ? `[${host}]` : host;
  if (reason === LOOKED_UP) return `Network: ${quote(name)} not reached (${LOOKED_UP_ONLY})`;
  return `Network: ${quote(`${name}:${port}`)} ${FAILED.has(reason) ? "not reached" : "denied"}${times} (${why})`;
}

/** A host to which there was no connection, as nothing listens for it at the port that was wanted. */
const LOOKED_UP = "looked_up";
const LOOKED_UP_ONLY =
  "looked up by a program that does not use the proxy, to which only the ports 22, 80, 443 and those that a rule names for the host are open";

/** Why there was no connection although it was allowed. */
const FAILED: ReadonlySet<string> = new Set(["unresolvable", "unreachable", "timeout"]);

const DENY_REASONS: Readonly<Record<string, string>> = {
  not_allowed: "no rule allows it",
  not_allowed_local: "it is an address of a private network or of this host, which no rule opens",
  method_not_allowed: "only GET, HEAD and OPTIONS of plain HTTP are allowed",
  mitm_required: "only plain HTTP is allowed, whose method can be seen",
  malformed: "it is no host with a port",
  sni_mismatch: "its TLS handshake names another host",
  unix_socket_unsupported: "Unix sockets are not reached through the proxy",
  too_many_connections: "too many connections are open",
  unresolvable: "its name was not found",
  unreachable: "it did not accept the connection",
  timeout: "it did not answer in time",
};

/** `Refused: curl https://example.com (rule ["curl"] (default.rules:3))`. */
function describeProgram({ program, argv, decision, reason, rule, times, ...report }: ProgramReport): string {
  const words = argv.length === 0 ? program : argv.join(" ");
  const { exitCode, droppedVariables = [], detail } = report;
  const said = reason === "rule" ? [] : [STOP_REASONS[reason]];
  const facts = [
    ...(rule === undefined ? (reason === "rule" ? [STOP_REASONS.rule] : []) : [`rule ${quote(rule)}`]),
    ...said.map((text) => (detail === undefined ? text : `${text}: ${detail}`)),
    ...(times > 1 ? [`${times} times`] : []),
    ...(droppedVariables.length === 0 ? [] : [`without ${droppedVariables.join(", ")}`]),
  ];
  const end = exitCode === undefined ? "" : `, exit ${exitCode}`;
  return `${DECISIONS[decision]}: ${quote(words)}${end} (${facts.join(", ")})`;
}

const DECISIONS: Readonly<Record<ProgramReport["decision"], string>> = {
  refused: "Refused",
  killed: "Ended before it ran",
  inside: "Ran in the sandbox",
  outside: "Outside the sandbox",
};

const STOP_REASONS: Readonly<Record<ProgramReport["reason"], string>> = {
  rule: "a rule",
  unasked: "nobody could be asked",
  declined: "declined",
  unanswered: "there was no answer in time",
  approved: "approved",
  not_outside: "it could not be started outside of the sandbox",
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
