import { type Item, type ModelEvent, textOf } from "@codex/model";
import type { AgentEvent } from "../events/agent-event.js";

/** Emits the events of a streaming response; deltas have the id of their later item. */
export class ResponseReader {
  readonly #emit: (event: AgentEvent) => Promise<void>;
  readonly #nextItemId: () => string;
  /** Ids of incomplete items with deltas, by the endpoint's item id or by kind. */
  readonly #open = new Map<string, string>();

  constructor(emit: (event: AgentEvent) => Promise<void>, nextItemId: () => string) {
    this.#emit = emit;
    this.#nextItemId = nextItemId;
  }

  async delta({ type, itemId, text }: Extract<ModelEvent, { type: "text_delta" | "reasoning_delta" }>): Promise<void> {
    const of = type === "text_delta" ? "text" : "reasoning";
    const key = itemId ?? of;
    let id = this.#open.get(key);
    if (id === undefined) {
      id = this.#nextItemId();
      this.#open.set(key, id);
    }
    await this.#emit({ type: "item_delta", itemId: id, of, text });
  }

  /** Emits a completed message or reasoning item; calls are shown when they run. */
  async item(item: Item): Promise<void> {
    if (item.type === "message") {
      const id = this.#take(item, "text");
      const text = textOf(item);
      const refusal = hasRefusal(item) ? { refusal: true } : {};
      await this.#emit({
        type: "item_completed",
        item: { id, status: "completed", kind: "message", text, ...refusal },
      });
    }
    if (item.type === "reasoning") {
      const id = this.#take(item, "reasoning");
      const text = reasoningText(item);
      if (text === "") return;
      await this.#emit({ type: "item_completed", item: { id, status: "completed", kind: "reasoning", text } });
    }
  }

  /** Returns and forgets the ids of incomplete items. */
  discard(): string[] {
    const ids = [...this.#open.values()];
    this.#open.clear();
    return ids;
  }

  #take(item: Item, fallback: string): string {
    const key = typeof item.id === "string" && this.#open.has(item.id) ? item.id : fallback;
    const id = this.#open.get(key) ?? this.#nextItemId();
    this.#open.delete(key);
    return id;
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

const hasRefusal = (item: Item): boolean =>
  listOf(item.content).some((part) => typeof part === "object" && part !== null && "refusal" in part);

/** The reasoning summary, or the reasoning content when there is no summary. */
function reasoningText(item: Item): string {
  const textsOf = (value: unknown) =>
    listOf(value).flatMap((part) =>
      typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? [part.text] : [],
    );
  const summary = textsOf(item.summary);
  return (summary.length > 0 ? summary : textsOf(item.content)).join("\n\n");
}
