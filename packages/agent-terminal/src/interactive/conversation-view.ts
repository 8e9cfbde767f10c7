import type { AgentEvent, ThreadItem, Usage } from "@codex/agent";
import type { Clock } from "@codex/clock";
import { visibleText } from "@codex/policy/display";
import type { OutputSink } from "../exec/output-sink.js";
import { createTextView, describeTime, type Paint } from "../exec/text-view.js";
import type { TurnView } from "../exec/turn-view.js";
import { KEPT_LINES, LIVE_LINES } from "../limits.js";
import { LiveTail } from "./live-tail.js";

/** Options of {@link ConversationView}. */
export interface ConversationViewOptions {
  /** Receives permanent text. */
  readonly log: OutputSink;
  /** Called when `rows` changed. */
  readonly onChange: () => void;
  readonly paint: Paint;
  readonly clock: Pick<Clock, "now">;
}

/** A running item. */
interface Running {
  readonly heading: string;
  readonly began: number;
  readonly tail: LiveTail;
}

/** Shows a turn live: streaming text, the last lines of running commands, and completed items. */
export class ConversationView implements TurnView {
  readonly #options: ConversationViewOptions;
  readonly #items: TurnView;
  readonly #running = new Map<string, Running>();
  /** The streaming message: full text so far, and its incomplete last line. */
  #message: { id: string; text: string; line: string } | undefined;
  #thought = new LiveTail(1);
  #began = 0;
  #isWaiting = false;

  constructor(options: ConversationViewOptions) {
    this.#options = options;
    this.#items = createTextView({ ...options, result: options.log, shared: true, keptLines: KEPT_LINES });
  }

  /** Rows of current activity, unstyled. */
  rows(columns: number): string[] {
    const now = this.#options.clock.now();
    const took = (since: number) => `${Math.floor((now - since) / 1000)} s`;
    const each = Math.max(1, Math.floor(LIVE_LINES / Math.max(1, this.#running.size)));
    const commands = [...this.#running.values()].flatMap(({ heading, began, tail }) => [
      ...tail.lines.slice(-each).map((line) => `  ${visibleText(line)}`),
      `• ${heading} (${took(began)})`,
    ]);
    const line = this.#message?.line ?? "";
    const text = line === "" ? [] : wrapTail(visibleText(line.slice(-columns * MAX_TEXT_ROWS)), columns - 1);
    const thought = this.#thought.lines.map((row) => `  ${visibleText(row)}`);
    const waiting = this.#isWaiting && this.#running.size === 0 ? [...thought, `• working (${took(this.#began)})`] : [];
    return [...text, ...commands, ...waiting];
  }

  get hasRunning(): boolean {
    return this.#isWaiting || this.#running.size > 0;
  }

  async show(event: AgentEvent): Promise<void> {
    await this.#show(event);
    this.#options.onChange();
  }

  async #show(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case "turn_started":
        this.#began = this.#options.clock.now();
        this.#isWaiting = true;
        return;
      case "item_delta":
        return this.#delta(event);
      case "item_started":
        if (event.item.kind === "command" || event.item.kind === "tool_call") this.#start(event.item);
        await this.#endMessage();
        return this.#items.show(event);
      case "item_completed":
        return this.#complete(event.item, event);
      case "retry":
        if (await this.#endMessage()) await this.#log("! the text above was not completed; what follows replaces it");
        this.#thought = new LiveTail(1);
        return this.#items.show(event);
      case "turn_completed":
        return this.#end(event.turnUsage, undefined);
      case "turn_failed":
        return this.#end(event.turnUsage, event.error.message);
      default:
        return undefined;
    }
  }

  #start(item: Extract<ThreadItem, { kind: "command" | "tool_call" }>): void {
    const heading = visibleText(item.kind === "command" ? item.command : item.name).replaceAll("\n", "⏎");
    this.#running.set(item.id, { heading, began: this.#options.clock.now(), tail: new LiveTail(LIVE_LINES) });
  }

  async #delta({ itemId, of, text }: Extract<AgentEvent, { type: "item_delta" }>): Promise<void> {
    if (of === "output") return this.#running.get(itemId)?.tail.append(text);
    if (of === "reasoning") return this.#thought.append(text);
    if (this.#message?.id !== itemId) {
      await this.#endMessage();
      this.#message = { id: itemId, text: "", line: "" };
      await this.#options.log.write(`${this.#options.paint("heading", "codex")}\n`);
    }
    await this.#addText(text);
  }

  /** Logs complete lines; the incomplete last one is redrawn. */
  async #addText(text: string): Promise<void> {
    const message = this.#message!;
    message.text += text;
    if (!text.includes("\n")) {
      message.line += text;
      return;
    }
    const lines = (message.line + text).split("\n");
    message.line = lines.pop() ?? "";
    await this.#options.log.write(`${visibleText(lines.join("\n"))}\n`);
  }

  /** Ends the streaming message; returns whether there was one. */
  async #endMessage(): Promise<boolean> {
    const message = this.#message;
    this.#message = undefined;
    if (message === undefined) return false;
    if (message.line !== "") await this.#options.log.write(`${visibleText(message.line)}\n`);
    return true;
  }

  async #complete(item: ThreadItem, event: AgentEvent): Promise<void> {
    this.#running.delete(item.id);
    this.#thought = new LiveTail(1);
    if (item.kind !== "message") {
      await this.#endMessage();
      return this.#items.show(event);
    }
    const message = this.#message;
    // If the deltas are not a prefix of the final text, the text is shown again.
    if (message?.id === item.id && item.text.startsWith(message.text)) {
      await this.#addText(item.text.slice(message.text.length));
      await this.#endMessage();
      return;
    }
    await this.#endMessage();
    await this.#log(`${this.#options.paint("heading", "codex")}\n${visibleText(item.text)}`);
  }

  async #end({ inputTokens, cachedInputTokens, outputTokens }: Usage, error: string | undefined): Promise<void> {
    await this.#endMessage();
    this.#running.clear();
    this.#isWaiting = false;
    const { paint, clock } = this.#options;
    if (error !== undefined) await this.#log(paint("bad", `error: ${visibleText(error)}`));
    const count = (value: number) => value.toLocaleString("en-US");
    const tokens = `${count(inputTokens)} tokens in (${count(cachedInputTokens)} cached), ${count(outputTokens)} out`;
    await this.#log(paint("faint", `${tokens}, ${describeTime(clock.now() - this.#began)}`));
  }

  #log(text: string): Promise<void> {
    return this.#options.log.write(`${text}\n`);
  }
}

/** Wraps the end of a long line. */
function wrapTail(line: string, columns: number): string[] {
  const width = Math.max(1, columns);
  const tail = line.slice(-width * MAX_TEXT_ROWS);
  return tail.match(new RegExp(`.{1,${width}}`, "gsu")) ?? [];
}

const MAX_TEXT_ROWS = 3;
