import type { AgentEvent } from "../events/agent-event.js";
import { type Item, textOf } from "../model/items.js";
import type { ModelEvent } from "../model/model-port.js";

/** Shows a response while it comes: deltas under the id that their item will have. */
export class ResponseReader {
  readonly #emit: (event: AgentEvent) => Promise<void>;
  readonly #nextItemId: () => string;
  /** Items that deltas were shown for and that are not done, by the endpoint's id or by what they are. */
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

  /** Shows a message or reasoning that is done; other items are shown by who carries them out. */
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

  /** Ids of what was shown and never done. */
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

/** What a model told of its thinking: the summary, or the thoughts themselves where there is none. */
function reasoningText(item: Item): string {
  const textsOf = (value: unknown) =>
    listOf(value).flatMap((part) =>
      typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? [part.text] : [],
    );
  const summary = textsOf(item.summary);
  return (summary.length > 0 ? summary : textsOf(item.content)).join("\n\n");
}
