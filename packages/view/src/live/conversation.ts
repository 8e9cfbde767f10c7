import type { AgentEvent, ThreadItem } from "@codex/agent";
import type { ItemContent, ThreadEntity } from "../wire/entities.js";
import type { Board } from "./board.js";
import type { Items } from "./items.js";
import { shorten } from "./text.js";

/** Facts of a conversation that its events do not contain. */
export interface ThreadFacts {
  readonly threadId?: string;
  readonly model?: string;
}

/** Shows the events of an agent. Commands are shown by `Calls`, as calls of the orchestrator have more details. */
export class ConversationPanel {
  readonly #board: Board;
  readonly #items: Items;
  /** Text of incomplete items. */
  readonly #texts = new Map<string, { type: "message" | "reasoning"; text: string }>();
  #thread: ThreadEntity = { kind: "thread", id: "thread", state: "none" };
  #prompts = 0;

  constructor(board: Board, items: Items) {
    this.#board = board;
    this.#items = items;
  }

  change(part: Partial<Omit<ThreadEntity, "kind" | "id">>): void {
    this.#thread = { ...this.#thread, ...part };
    this.#board.set(this.#thread);
  }

  get state(): ThreadEntity["state"] {
    return this.#thread.state;
  }

  prompt(text: string): void {
    this.#prompts += 1;
    this.#items.set(`prompt ${this.#prompts}`, { type: "prompt", text: shorten(text) });
  }

  show(event: AgentEvent): void {
    switch (event.type) {
      case "thread_started":
        return this.change({ threadId: event.threadId, state: "idle" });
      case "turn_started":
        return this.change({ state: "running", reason: undefined });
      case "turn_completed":
        return this.change({ state: "idle", tokens: event.usage.totalTokens });
      case "turn_failed":
        return this.change({ state: "failed", tokens: event.usage.totalTokens, reason: shorten(event.error.message) });
      case "response_completed":
        return event.usage === undefined ? undefined : this.change({ tokens: event.usage.totalTokens });
      case "item_delta":
        return event.of === "output" ? undefined : this.#append(event.itemId, event.of, event.text);
      case "retry":
        for (const id of event.discarded) {
          this.#texts.delete(id);
          this.#items.drop(`item ${id}`);
        }
        return this.#items.set(`retry ${event.message}`, { type: "warning", text: shorten(event.message) });
      case "item_started":
      case "item_updated":
      case "item_completed":
        return this.#showItem(event.item);
      case "request_started":
        return;
    }
  }

  #append(id: string, of: "text" | "reasoning", text: string): void {
    const known = this.#texts.get(id) ?? { type: of === "text" ? ("message" as const) : of, text: "" };
    known.text += text;
    this.#texts.set(id, known);
    this.#items.setLazily(`item ${id}`, () => {
      const now = this.#texts.get(id);
      return now === undefined ? undefined : { type: now.type, text: shorten(now.text) };
    });
  }

  #showItem(item: ThreadItem): void {
    this.#texts.delete(item.id);
    const content = toContent(item);
    if (content !== undefined) this.#items.set(`item ${item.id}`, content);
  }
}

function toContent(item: ThreadItem): ItemContent | undefined {
  switch (item.kind) {
    case "message":
    case "reasoning":
      return { type: item.kind, text: shorten(item.text) };
    case "warning":
      return { type: "warning", text: shorten(item.message) };
    case "compaction":
      return { type: "warning", text: `The history was replaced by a summary (${item.tokensBefore} tokens before).` };
    case "plan":
      return { type: "plan", steps: item.steps };
    case "file_change": {
      const changes = item.changes.map(({ path, change, diff }) => ({
        path,
        change,
        diff: diff === undefined ? undefined : shorten(diff),
      }));
      return { type: "patch", status: item.status, environment: item.environment, changes };
    }
    case "image":
      return { type: "tool", name: "view_image", input: item.path, output: "", status: item.status };
    case "tool_call": {
      const { name, input, output = "", status } = item;
      return { type: "tool", name, input: shorten(input), output: shorten(output), status };
    }
    case "command":
      return undefined;
  }
}
