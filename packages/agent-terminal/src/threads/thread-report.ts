import { addUsage, NO_USAGE, readUsage, type Usage } from "@codex/agent";
import type { ThreadLine } from "@codex/agent/node";
import { cutEnd } from "@codex/values";
import { isUserWritten } from "./user-messages.js";

/** Report on a thread, by turn. */
export interface ThreadReport {
  readonly turns: readonly ReportedTurn[];
  /** Sum over all turns. */
  readonly usage: Usage;
  /** Total milliseconds of turns with a known duration. */
  readonly wallMs: number;
}

/** One turn. Members missing from the file are undefined. */
export interface ReportedTurn {
  turnId: string | undefined;
  /** ISO 8601. */
  startedAt: string;
  model: string | undefined;
  cwd: string | undefined;
  environment: string | undefined;
  prompt: string;
  /** `unknown`: the file records no end; the turn still runs or was killed. */
  outcome: "completed" | "failed" | "interrupted" | "unknown";
  error: string | undefined;
  wallMs: number | undefined;
  usage: Usage;
  responses: ReportedResponse[];
  cuts: ReportedCut[];
}

/** One response of the model, with its calls. */
export interface ReportedResponse {
  usage: Usage | undefined;
  calls: ReportedCall[];
}

/** One call. */
export interface ReportedCall {
  callId: string;
  name: string;
  /** Raw input, truncated. */
  input: string;
  environment: string | undefined;
  wallMs: number | undefined;
  /** What decided on it: a rule, the policy, or a person. */
  decidedBy: string | undefined;
  /** Matching rules. */
  rule: string | undefined;
  /** Bytes of its output; undefined when not recorded. */
  outputBytes: number | undefined;
}

/** Content removed from the model's context, or never part of it. */
export interface ReportedCut {
  what: "history" | "output";
  /** Call whose output was cut. */
  callId: string | undefined;
  /** Tokens before the cut. */
  tokensBefore: number | undefined;
  reason: string;
}

/** Characters kept of a prompt and of a call's input. */
const REPORTED_CHARS = 2_000;

/** Reads a report from the lines of a thread's file, written by this client or by Codex. */
export async function readThreadReport(lines: AsyncIterable<ThreadLine>): Promise<ThreadReport> {
  const reader = new ReportReader();
  for await (const line of lines) reader.add(line);
  return reader.report();
}

type Payload = ThreadLine["payload"];

class ReportReader {
  readonly #turns: ReportedTurn[] = [];
  #isOpen = false;
  #prompt = "";
  readonly #calls = new Map<string, ReportedCall & { at: string }>();
  #hasRecords = false;
  #lastTotal = 0;

  add({ timestamp, type, payload }: ThreadLine): void {
    switch (type) {
      case "turn_started":
        return void this.#begin(timestamp, payload);
      case "turn_context":
        return this.#describeTurn(timestamp, payload);
      case "response_item":
        return this.#item(timestamp, payload);
      case "call_started":
      case "call_finished":
        return this.#describeCall(payload);
      case "usage":
        return this.#count(readUsage(objectOf(payload.usage)));
      case "token_usage_record":
        this.#hasRecords = true;
        return this.#count(codexUsage(objectOf(payload.usage)));
      case "compacted":
        return this.#compacted(payload);
      case "turn_ended":
        return this.#end(outcomeOf(payload.outcome), countOf(payload.wallMs), textOf(payload.error));
      case "event_msg":
        return this.#event(timestamp, payload);
    }
  }

  report(): ThreadReport {
    const turns = this.#turns;
    const wallMs = turns.reduce((sum, turn) => sum + (turn.wallMs ?? 0), 0);
    return { turns, wallMs, usage: turns.reduce((sum, turn) => addUsage(sum, turn.usage), NO_USAGE) };
  }

  /** The current turn. If the file records no turns, one starts with the first response to a prompt. */
  get #turn(): ReportedTurn {
    const last = this.#turns.at(-1);
    return this.#isOpen && last !== undefined ? last : this.#begin("", {});
  }

  #begin(startedAt: string, payload: Payload): ReportedTurn {
    const turn: ReportedTurn = {
      turnId: textOf(payload.turnId) ?? textOf(payload.turn_id),
      startedAt,
      model: textOf(payload.model),
      cwd: textOf(payload.cwd),
      environment: textOf(payload.environment),
      prompt: this.#prompt,
      outcome: "unknown",
      error: undefined,
      wallMs: undefined,
      usage: NO_USAGE,
      responses: [],
      cuts: [],
    };
    this.#turns.push(turn);
    this.#isOpen = true;
    return turn;
  }

  /** Handles `turn_context` of Codex, which may follow the start of its turn. */
  #describeTurn(timestamp: string, payload: Payload): void {
    const last = this.#turns.at(-1);
    const id = textOf(payload.turn_id);
    const isSame = this.#isOpen && last !== undefined && (last.turnId === undefined || last.turnId === id);
    const turn = isSame ? last : this.#begin(timestamp, payload);
    turn.model = textOf(payload.model) ?? turn.model;
    turn.cwd = textOf(payload.cwd) ?? turn.cwd;
  }

  #item(timestamp: string, item: Payload): void {
    if (item.type === "message" && item.role === "user") return this.#addPrompt(messageText(item));
    const id = textOf(item.call_id);
    if (item.type === "function_call" || item.type === "custom_tool_call") {
      const input = cut(textOf(item.arguments) ?? textOf(item.input) ?? "");
      const call = { callId: id ?? "", name: nameOf(item), input, at: timestamp };
      const unknown = {
        environment: undefined,
        wallMs: undefined,
        decidedBy: undefined,
        rule: undefined,
        outputBytes: undefined,
      };
      const full = { ...call, ...unknown };
      this.#calls.set(call.callId, full);
      this.#response.calls.push(full);
    } else if (item.type === "function_call_output" || item.type === "custom_tool_call_output") {
      this.#addOutput(timestamp, id ?? "", outputText(item.output));
    } else if (item.type === "message" && item.role === "assistant") void this.#response;
  }

  /** The current response: the last one without usage. */
  get #response(): ReportedResponse {
    const { responses } = this.#turn;
    const last = responses.at(-1);
    if (last !== undefined && last.usage === undefined) return last;
    const next: ReportedResponse = { usage: undefined, calls: [] };
    responses.push(next);
    return next;
  }

  /** Handles a user message; inserted context is ignored. */
  #addPrompt(text: string): void {
    if (!isUserWritten(text)) return;
    const last = this.#turns.at(-1);
    this.#prompt = cut(text);
    if (last === undefined || !this.#isOpen) return;
    if (last.responses.length === 0) last.prompt = this.#prompt;
    else if (last.turnId === undefined) this.#isOpen = false;
  }

  #addOutput(timestamp: string, id: string, output: string): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    call.outputBytes = Buffer.byteLength(output);
    const took = Date.parse(timestamp) - Date.parse(call.at);
    if (call.wallMs === undefined && Number.isFinite(took)) call.wallMs = took;
    const tokens = /^Output:\nWarning: truncated output \(original token count: (\d+)\)/m.exec(output)?.[1];
    if (tokens === undefined) return;
    const reason = "longer than a call's output may be";
    this.#turns.at(-1)?.cuts.push({ what: "output", callId: id, tokensBefore: Number(tokens), reason });
  }

  #describeCall(payload: Payload): void {
    const call = this.#calls.get(textOf(payload.callId) ?? "");
    if (call === undefined) return;
    call.environment = textOf(payload.environment) ?? call.environment;
    call.wallMs = countOf(payload.wallMs) ?? call.wallMs;
    call.decidedBy = textOf(payload.decidedBy) ?? call.decidedBy;
    call.rule = textOf(payload.rule) ?? call.rule;
  }

  #count(usage: Usage): void {
    const turn = this.#turn;
    turn.usage = addUsage(turn.usage, usage);
    this.#response.usage = usage;
  }

  #compacted(payload: Payload): void {
    const tokensBefore = countOf(payload.tokens_before);
    const reason = textOf(payload.reason) ?? "the history was replaced by a summary";
    this.#turn.cuts.push({ what: "history", callId: undefined, tokensBefore, reason });
  }

  #event(timestamp: string, payload: Payload): void {
    switch (payload.type) {
      case "task_started":
        return void this.#begin(timestamp, payload);
      case "task_complete":
        return this.#end("completed", countOf(payload.duration_ms), undefined);
      case "turn_aborted":
        return this.#end("interrupted", countOf(payload.duration_ms), textOf(payload.reason));
      case "error":
        return this.#end("failed", undefined, textOf(payload.message));
      case "token_count": {
        // Older files have no other record; a count may be repeated.
        const info = objectOf(payload.info);
        const total = countOf(objectOf(info.total_token_usage).total_tokens) ?? 0;
        if (this.#hasRecords || total === this.#lastTotal) return;
        this.#lastTotal = total;
        return this.#count(codexUsage(objectOf(info.last_token_usage)));
      }
    }
  }

  #end(outcome: ReportedTurn["outcome"], wallMs: number | undefined, error: string | undefined): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined) return;
    // Codex completes a task after its error.
    turn.outcome = turn.outcome === "unknown" ? outcome : turn.outcome;
    turn.wallMs = wallMs ?? turn.wallMs;
    turn.error = error ?? turn.error;
    this.#isOpen = false;
  }
}

const outcomeOf = (value: unknown): ReportedTurn["outcome"] =>
  value === "completed" || value === "failed" || value === "interrupted" ? value : "unknown";

const objectOf = (value: unknown): Payload => (typeof value === "object" && value !== null ? (value as Payload) : {}); // members are checked individually
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
const cut = (text: string) => (text.length <= REPORTED_CHARS ? text : `${cutEnd(text, REPORTED_CHARS)}…`);

/** Message text without the tags of images. */
function messageText({ content }: Payload): string {
  const parts = Array.isArray(content) ? content.map((part: unknown) => textOf(objectOf(part).text) ?? "") : [];
  return parts.filter((text) => text !== "" && !/^<\/?image\b/.test(text)).join("\n");
}

function outputText(output: unknown): string {
  return typeof output === "string" ? output : (JSON.stringify(output) ?? "");
}

const codexUsage = (usage: Payload): Usage =>
  readUsage(usage, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

/** Name of a tool, prefixed with its namespace if it has one, as tools of other namespaces may have the same name. */
function nameOf({ name, namespace }: Payload): string {
  const within = textOf(namespace) ?? "functions";
  return within === "functions" ? (textOf(name) ?? "") : `${within}__${textOf(name) ?? ""}`;
}
