import type { Usage } from "@codex/agent";
import type { ThreadMeta } from "@codex/agent/node";
import { visibleText } from "@codex/policy/display";
import type { ReportedCall, ReportedCut, ReportedTurn, ThreadReport } from "./thread-report.js";

/** Renders a report as text. Control characters are escaped. */
export function renderThreadReport(meta: ThreadMeta, report: ThreadReport): string {
  const { turns, usage, wallMs } = report;
  const calls = turns.flatMap(({ responses }) => responses.flatMap((response) => response.calls));
  const callMs = calls.reduce((sum, call) => sum + (call.wallMs ?? 0), 0);
  const head = [
    `thread ${meta.id}`,
    `begun ${meta.timestamp} in ${meta.cwd} with ${meta.originator} ${meta.cli_version}, provider ${meta.model_provider}`,
    ...(meta.environment === undefined ? [] : [`environment ${meta.environment}`]),
    ...(meta.forked_from_id === undefined ? [] : [`forked from ${meta.forked_from_id}`]),
  ];
  const total = `total: ${count(turns.length, "turn")} in ${renderTime(wallMs)}, ${count(calls.length, "call")} in ${renderTime(callMs)}, ${renderUsage(usage)}`;
  const lines = [...head, "", ...turns.flatMap((turn, index) => [...renderTurn(turn, index + 1), ""]), total];
  return `${lines.map((line) => visibleText(line).replaceAll("\n", "\\n")).join("\n")}\n`;
}

function renderTurn(turn: ReportedTurn, number: number): string[] {
  const { startedAt, model, outcome, wallMs, usage, prompt, responses, cuts, error, environment, cwd } = turn;
  const facts = [
    startedAt,
    model,
    environment,
    cwd,
    `${OUTCOMES[outcome]}${wallMs === undefined ? "" : ` in ${renderTime(wallMs)}`}`,
    renderUsage(usage),
  ].filter((fact) => fact !== undefined && fact !== "");
  return [
    `turn ${number}: ${facts.join(", ")}`,
    `  > ${firstLine(prompt)}`,
    ...responses.flatMap((response, index) => [
      `  response ${index + 1}: ${response.usage === undefined ? "tokens not known" : renderUsage(response.usage)}`,
      ...response.calls.map(renderCall),
    ]),
    ...cuts.map(renderCut),
    ...(error === undefined ? [] : [`  error: ${firstLine(error)}`]),
  ];
}

const OUTCOMES = {
  completed: "completed",
  failed: "failed",
  interrupted: "interrupted",
  unknown: "no end is recorded",
} as const;

function renderCall({ name, input, environment, wallMs, decidedBy, rule, outputBytes }: ReportedCall): string {
  const facts = [
    ...(environment === undefined ? [] : [`on ${environment}`]),
    wallMs === undefined ? "time not known" : renderTime(wallMs),
    outputBytes === undefined ? "no answer is recorded" : `answered with ${count(outputBytes, "byte")}`,
    ...(decidedBy === undefined ? [] : [`decided by ${decidedBy}`]),
    ...(rule === undefined ? [] : [`rule ${rule}`]),
  ];
  return `    ${name} ${firstLine(commandOf(input))} (${facts.join(", ")})`;
}

function renderCut({ what, callId, tokensBefore, reason }: ReportedCut): string {
  const size = tokensBefore === undefined ? "" : ` of ${tokensBefore.toLocaleString("en-US")} tokens`;
  return `  cut: ${what === "history" ? "history" : `output of ${callId ?? "a call"}`}${size}: ${reason}`;
}

/** Command line of a call, or its full input. */
function commandOf(input: string): string {
  try {
    const value: unknown = JSON.parse(input);
    const command = typeof value === "object" && value !== null && "cmd" in value ? value.cmd : undefined;
    return typeof command === "string" ? command : input;
  } catch {
    return input;
  }
}

/** Formats token counts. */
function renderUsage({ inputTokens, cachedInputTokens, outputTokens }: Usage): string {
  const number = (value: number) => value.toLocaleString("en-US");
  return `${number(inputTokens)} tokens in (${number(cachedInputTokens)} cached), ${number(outputTokens)} out`;
}

/** Formats milliseconds. */
function renderTime(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 100_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

const count = (value: number, unit: string) => `${value.toLocaleString("en-US")} ${unit}${value === 1 ? "" : "s"}`;

/** First line of a text, truncated. */
export function firstLine(text: string): string {
  const [line = "", ...more] = text.trim().split("\n");
  return line.length > LINE_CHARS || more.length > 0 ? `${line.slice(0, LINE_CHARS)} …` : line;
}

const LINE_CHARS = 120;
