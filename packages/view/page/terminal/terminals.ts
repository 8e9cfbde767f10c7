import type { GapReason } from "../../src/wire/messages.ts";
import type { TerminalContext, TerminalPanel } from "./panel.ts";
import { takeOpenTerminal } from "./saved.ts";

/** The open terminal, and the last position in each session. xterm is loaded on first use. */
export class Terminals {
  readonly #context: Omit<TerminalContext, "closed">;
  readonly #place: HTMLElement;
  readonly #listeners = new Set<() => void>();
  readonly #shown = new Map<number, number>();
  #current: TerminalPanel | undefined;
  #wanted: number | undefined;

  constructor(context: Omit<TerminalContext, "closed">, place: HTMLElement) {
    this.#context = context;
    this.#place = place;
    addEventListener("pagehide", () => this.#current?.save());
    context.store.watch("session", () => this.#current?.update());
  }

  get current(): number | undefined {
    return this.#current?.session;
  }

  shownOf(session: number): number {
    return this.#current?.session === session ? this.#current.shown : (this.#shown.get(session) ?? 0);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Reopens the terminal that was open before a reload, or continues after a lost connection. */
  resume(): void {
    if (this.#current !== undefined) return this.#current.open();
    const before = takeOpenTerminal();
    if (before !== undefined) void this.#open(before, false);
  }

  open(session: number): void {
    void this.#open(session, true);
  }

  receive(session: number, offset: number, bytes: Uint8Array): void {
    if (this.#current?.session === session) this.#current.receive(offset, bytes);
  }

  skip(session: number, from: number, to: number, reason: GapReason): void {
    if (this.#current?.session === session) this.#current.skip(from, to, reason);
  }

  complete(session: number): void {
    if (this.#current?.session === session) this.#current.complete();
  }

  async #open(session: number, takesFocus: boolean): Promise<void> {
    this.#wanted = session;
    const { TerminalPanel } = await import("./panel.ts");
    const entity = this.#context.store.get("session", session);
    if (entity === undefined || this.#wanted !== session) return;
    if (this.#current?.session === session) return this.#current.focus();
    this.#current?.close();
    this.#current = new TerminalPanel(entity, { ...this.#context, closed: () => this.#closed() });
    this.#place.append(this.#current.element);
    document.body.classList.add("has-terminal");
    this.#current.open();
    if (takesFocus) this.#current.focus();
    this.#changed();
  }

  #closed(): void {
    if (this.#current !== undefined) this.#shown.set(this.#current.session, this.#current.shown);
    this.#current = undefined;
    document.body.classList.remove("has-terminal");
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
