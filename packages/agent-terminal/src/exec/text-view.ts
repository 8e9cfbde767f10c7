import type { AgentEvent, CommandDetails, FileChange, ThreadItem, Usage } from "@codex/agent";
import type { Clock } from "@codex/clock";
import { describeDeniedHosts, describePrograms } from "@codex/executor-protocol";
import { visibleText } from "@codex/policy/display";
import { cutEnd } from "@codex/values";
import { KEPT_LINE_CHARS, SHOWN_INPUT_CHARS } from "../limits.js";
import type { OutputSink } from "./output-sink.js";
import type { TurnView } from "./turn-view.js";

/** Options of {@link createTextView}. */
export interface TextViewOptions {
  /** Receives the conversation: reasoning, messages, commands. */
  readonly log: OutputSink;
  /** Receives the last message only. */
  readonly result: OutputSink;
  /** Both are the same terminal: the last message is not repeated in the log. */
  readonly shared: boolean;
  readonly paint: Paint;
  readonly clock: Pick<Clock, "now">;
  /** Lines shown of a command's output, half from each end; default all. */
  readonly keptLines?: number;
}

/** Styles text; returns it unchanged without colors. */
export type Paint = (style: "heading" | "good" | "bad" | "faint", text: string) => string;

/** Creates a view that shows the conversation as text. Control characters are escaped. */
export function createTextView(options: TextViewOptions): TurnView {
  return new TextView(options);
}

class TextView implements TurnView {
  readonly #options: TextViewOptions;
  readonly #began = new Map<string, number>();
  /** The latest message, which may be the last one. */
  #message: string | undefined;

  constructor(options: TextViewOptions) {
    this.#options = options;
  }

  async show(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case "item_started":
        return this.#start(event.item);
      case "item_completed":
        return this.#complete(event.item);
      case "retry":
        return this.#log(this.#options.paint("bad", `! ${visibleText(event.message)}`));
      case "turn_completed":
        return this.#end(event.turnUsage);
      case "turn_failed":
        await this.#flush();
        await this.#log(this.#options.paint("bad", `error: ${visibleText(event.error.message)}`));
        return this.#tokens(event.turnUsage);
      default:
        return undefined;
    }
  }

  async #start(item: ThreadItem): Promise<void> {
    if (item.kind === "plan" || item.kind === "image" || item.kind === "file_change") return;
    this.#began.set(item.id, this.#options.clock.now());
    const heading = describeStart(item);
    if (heading === undefined) return;
    await this.#flush();
    await this.#log(heading.replace(/^\S+/, (word) => this.#options.paint("heading", word)));
  }

  async #complete(item: ThreadItem): Promise<void> {
    await this.#flush();
    const { paint } = this.#options;
    switch (item.kind) {
      case "message":
        this.#message = item.text;
        return;
      case "reasoning":
        return this.#log(`${paint("heading", "thinking")}\n${paint("faint", visibleText(item.text))}`);
      case "command":
        return this.#log(this.#describeCommand(item));
      case "file_change":
        return this.#log(this.#describeChange(item.changes, item.status));
      case "plan":
        return this.#log([paint("heading", "plan"), ...item.steps.map(describeStep)].join("\n"));
      case "image":
        return this.#log(`${paint("heading", "image")} ${visibleText(item.path)}`);
      case "tool_call":
        return this.#log(`${this.#status(item, item.status)}\n${visibleText(cut(item.output ?? ""))}`.trimEnd());
      case "compaction":
        return this.#log(`${paint("heading", "compaction")} the history was replaced by a summary of itself`);
      case "warning":
        return this.#log(paint("bad", `warning: ${visibleText(item.message)}`));
    }
  }

  #describeCommand(item: ThreadItem & CommandDetails): string {
    const output = keepLines(visibleText(item.output).trimEnd(), this.#options.keptLines);
    // With several running commands, name the one that ended.
    const which = this.#began.size > 1 || !this.#began.has(item.id) ? `${visibleText(item.command)}: ` : "";
    const text = `${this.#status(item, `${which}${this.#describeEnd(item)}`)}${output === "" ? "" : `\n${output}`}`;
    const stopped = [...describePrograms(item.programs), ...describeDeniedHosts(item.deniedHosts)].map(visibleText);
    const denied = item.sandboxDenial === undefined ? [] : [`sandbox: ${visibleText(item.sandboxDenial.reason)}`];
    return [text, ...stopped, ...denied].join("\n");
  }

  #describeEnd({ decision, outcome, exitCode, sessionId }: CommandDetails): string {
    if (decision !== undefined) return `${decision.kind}: ${visibleText(decision.reason)}`;
    if (outcome?.kind === "running") return `still running${sessionId === undefined ? "" : ` as session ${sessionId}`}`;
    if (outcome?.kind === "lost") return `lost: ${visibleText(outcome.reason)}`;
    if (outcome?.kind === "failed_to_start") return `did not start: ${visibleText(outcome.reason)}`;
    if (outcome?.kind === "signaled") return `ended by ${outcome.signal}`;
    return exitCode === undefined ? "ended" : exitCode === 0 ? "succeeded" : `exited with ${exitCode}`;
  }

  /** For example ` exited with 1 in 20 ms`, styled by status. */
  #status(item: ThreadItem, words: string): string {
    const began = this.#began.get(item.id);
    this.#began.delete(item.id);
    const took = began === undefined || isNotRun(item) ? "" : ` in ${describeTime(this.#options.clock.now() - began)}`;
    return this.#options.paint(item.status === "completed" ? "good" : "bad", ` ${words}${took}`);
  }

  #describeChange(changes: readonly FileChange[], status: string): string {
    const { paint } = this.#options;
    const lines = changes.flatMap((change) => [
      `${MARKS[change.change]} ${visibleText(change.path)}${change.movedFrom === undefined ? "" : ` (was ${visibleText(change.movedFrom)})`}`,
      ...(change.diff === undefined ? [] : [visibleText(change.diff).trimEnd()]),
    ]);
    const heading = paint("heading", "patch") + (status === "completed" ? "" : paint("bad", ` ${status}`));
    return [heading, ...lines].join("\n");
  }

  async #end(usage: Usage): Promise<void> {
    const message = this.#message;
    this.#message = undefined;
    if (!this.#options.shared && message !== undefined) await this.#say(message);
    await this.#tokens(usage);
    if (message !== undefined) await this.#options.result.write(`${message}\n`);
  }

  /** Writes the pending message, which was not the last one. */
  async #flush(): Promise<void> {
    const message = this.#message;
    this.#message = undefined;
    if (message !== undefined) await this.#say(message);
  }

  #say(message: string): Promise<void> {
    return this.#log(`${this.#options.paint("heading", "codex")}\n${visibleText(message)}`);
  }

  /** Cached input is not counted, as in Codex. */
  #tokens({ inputTokens, cachedInputTokens, outputTokens }: Usage): Promise<void> {
    const count = (inputTokens - cachedInputTokens + outputTokens).toLocaleString("en-US");
    return this.#log(`${this.#options.paint("faint", "tokens used")}\n${count}`);
  }

  #log(text: string): Promise<void> {
    return this.#options.log.write(`${text}\n`);
  }
}

/** What has not run took no time. */
const isNotRun = (item: ThreadItem): boolean =>
  item.kind === "command" &&
  (item.outcome?.kind === "failed_to_start" || item.decision?.kind === "forbidden" || item.decision?.kind === "denied");

function describeStart(item: ThreadItem): string | undefined {
  if (item.kind === "command") {
    const where = [
      item.cwd === undefined ? "" : ` in ${item.cwd}`,
      item.environment === undefined ? "" : ` on ${item.environment}`,
    ];
    return visibleText(`exec ${item.shownCommand}${where.join("")}`);
  }
  if (item.kind === "tool_call") return visibleText(`tool ${item.name} ${cut(item.input)}`);
  return item.kind === "compaction" ? "compaction of the history …" : undefined;
}

const describeStep = ({ text, status }: { text: string; status: keyof typeof STEPS }): string =>
  `${STEPS[status]} ${visibleText(text)}`;

const STEPS = { pending: "[ ]", in_progress: "[>]", completed: "[x]" } as const;
const MARKS = { add: "A", delete: "D", update: "M" } as const;

/** Keeps the first and last lines, truncates long ones, and notes what was omitted. */
function keepLines(text: string, count: number | undefined): string {
  if (count === undefined) return text;
  const lines = text.split("\n").map((line) => {
    const rest = line.length - KEPT_LINE_CHARS;
    return rest <= 0 ? line : `${cutEnd(line, KEPT_LINE_CHARS)}… (${rest} more characters)`;
  });
  const half = Math.floor(count / 2);
  if (lines.length <= count) return lines.join("\n");
  const gap = `… ${(lines.length - 2 * half).toLocaleString("en-US")} lines are not shown here`;
  return [...lines.slice(0, half), gap, ...lines.slice(-half)].join("\n");
}

const cut = (text: string): string =>
  text.length <= SHOWN_INPUT_CHARS ? text : `${cutEnd(text, SHOWN_INPUT_CHARS)}… (${text.length} characters)`;

/** Formats a duration. */
export const describeTime = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
