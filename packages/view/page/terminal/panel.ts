import type { SessionEntity } from "../../src/wire/entities.ts";
import type { GapReason, PageMessage, Rights } from "../../src/wire/messages.ts";
import { h } from "../dom/element.ts";
import { visible, visibleText } from "../dom/visible.ts";
import { formatBytes } from "../dom/words.ts";
import type { Store } from "../state/store.ts";
import { readSaved, saveTerminal } from "./saved.ts";
import { createSearch } from "./search.ts";
import { createTerminal, type SessionTerminal } from "./terminal.ts";

/** The part of the page that a terminal uses. */
export interface TerminalContext {
  readonly store: Store;
  rights(): Rights;
  send(message: PageMessage): void;
  announce(text: string): void;
  confirmLink(url: string): void;
  closed(): void;
}

/** A session in a terminal: a region named after its command. Read-only until typing is switched on. */
export class TerminalPanel {
  readonly element: HTMLElement;
  readonly session: number;
  readonly #context: TerminalContext;
  readonly #terminal: SessionTerminal;
  readonly #facts = h("span", { class: "faint facts" });
  readonly #gaps = h("span", { class: "warn" });
  readonly #typing = h("button", { type: "button", "aria-pressed": "false" }, "Typing: off");
  readonly #entity: SessionEntity;
  #shown: number;
  #received: number;
  #acknowledged: number;
  #first: number;
  #isTyping = false;
  #factsTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(entity: SessionEntity, context: TerminalContext) {
    this.session = entity.id;
    this.#entity = entity;
    this.#context = context;
    const saved = readSaved(entity);
    this.#first = saved?.offset ?? 0;
    this.#shown = this.#first;
    this.#received = this.#first;
    this.#acknowledged = this.#first;
    this.#terminal = createTerminal(entity, {
      typed: (text) => context.send({ type: "input", session: entity.id, text }),
      link: (url) => context.confirmLink(url),
      leave: () => this.#typing.focus(),
    });
    if (saved !== undefined) this.#terminal.write(saved.screen);
    this.#typing.addEventListener("click", () => this.#setTyping(!this.#isTyping));
    this.element = this.#render();
    this.update();
  }

  /** Offset after the last byte on the screen. */
  get shown(): number {
    return this.#shown;
  }

  /** Requests the output after what is shown; also after a lost connection. */
  open(): void {
    this.#received = this.#shown;
    this.#acknowledged = this.#shown;
    this.#context.send({ type: "open", session: this.session, from: this.#shown });
  }

  focus(): void {
    this.element.focus();
  }

  receive(offset: number, bytes: Uint8Array): void {
    if (offset !== this.#received) return; // from an earlier connection
    const end = offset + bytes.length;
    this.#received = end;
    this.#terminal.write(bytes, () => {
      this.#shown = end;
      this.#showFactsSoon();
      // Few acknowledgements are cheaper; only one part can be larger than this.
      if (end - this.#acknowledged < ACK_BYTES && end !== this.#received) return;
      this.#acknowledged = end;
      this.#context.send({ type: "ack", session: this.session, offset: end });
    });
  }

  skip(from: number, to: number, reason: GapReason): void {
    this.#received = to;
    const text = reason === "gone" ? "are no longer kept by the executor" : "were written too fast to be shown";
    this.#gaps.textContent = `bytes ${from}–${to} ${text}`;
    // Cancels an incomplete escape sequence.
    this.#terminal.write(`\u0018\u001b[0m\r\n\u001b[7m bytes ${from}-${to} ${text} \u001b[0m\r\n`, () => {
      this.#shown = to;
      this.#showFacts();
    });
  }

  complete(): void {
    this.#showFacts();
  }

  update(): void {
    const entity = this.#context.store.get("session", this.session) ?? this.#entity;
    this.#terminal.resize(entity.size);
    const mayType = entity.canType && this.#context.rights() === "answer";
    this.#typing.hidden = !mayType;
    if (!mayType && this.#isTyping) this.#setTyping(false);
    this.#showFacts();
  }

  save(): void {
    saveTerminal(this.#entity, this.#shown, this.#terminal.serialize());
  }

  close(): void {
    clearTimeout(this.#factsTimer);
    this.#context.send({ type: "close", session: this.session });
    this.#terminal.dispose();
    this.element.remove();
    this.#context.closed();
  }

  #setTyping(isOn: boolean): void {
    this.#isTyping = isOn;
    this.#typing.setAttribute("aria-pressed", String(isOn));
    this.#typing.textContent = isOn ? "Typing: on" : "Typing: off";
    this.element.classList.toggle("typing", isOn);
    this.#terminal.setTyping(isOn);
    this.#context.announce(isOn ? "Typing is on. F6 leaves the terminal." : "Typing is off.");
    if (isOn) this.#terminal.focus();
  }

  #showFacts(): void {
    const entity = this.#context.store.get("session", this.session) ?? this.#entity;
    const state = entity.state === "running" ? "running" : entity.outcome;
    const from = this.#first === 0 ? "" : `from byte ${this.#first} on · `;
    this.#facts.replaceChildren(
      visible(
        `${entity.environment} · ${state} · ${from}${formatBytes(this.#shown)} of ${formatBytes(Math.max(entity.end, this.#shown))}`,
      ),
    );
    this.element.dataset.first = String(this.#first);
    this.element.dataset.shown = String(this.#shown);
  }

  #showFactsSoon(): void {
    this.element.dataset.shown = String(this.#shown);
    this.#factsTimer ??= setTimeout(() => {
      this.#factsTimer = undefined;
      this.#showFacts();
    }, FACTS_MS);
  }

  #render(): HTMLElement {
    const { command, sessionId } = this.#entity;
    const name = command === "" ? `session ${sessionId}` : command;
    const copy = async () => {
      const text = this.#terminal.selection;
      if (text === "") return this.#context.announce("Nothing is selected.");
      await navigator.clipboard.writeText(text);
      this.#context.announce(`${text.length} characters copied.`);
    };
    return h(
      "section",
      { class: "panel terminal", "aria-label": visibleText(name), tabindex: "-1" },
      h(
        "header",
        {},
        h("h2", {}, h("code", {}, visible(name))),
        this.#typing,
        h("button", { type: "button", onclick: () => void copy() }, "Copy"),
        createSearch(this.#terminal.search, (text) => this.#context.announce(text)),
        h("button", { type: "button", "aria-label": "Close terminal", onclick: () => this.close() }, "✕"),
      ),
      h("p", { class: "line" }, this.#facts, " ", this.#gaps),
      this.#terminal.element,
    );
  }
}

const ACK_BYTES = 128 * 1024;
/** Interval of updating the number of bytes, milliseconds. */
const FACTS_MS = 500;
