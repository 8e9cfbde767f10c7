import type { Conversation } from "@codex/orchestrator";
import { MAX_NOTES } from "./limits.js";
import { ParkedCalls } from "./parked-calls.js";

/** What is kept of one client between its requests. */
export class ClientState {
  readonly conversation: Conversation;
  readonly parked = new ParkedCalls();
  readonly #notes: string[] = [];

  constructor(conversation: Conversation) {
    this.conversation = conversation;
  }

  /** Something that the next result has to say, as the client never saw it. */
  note(text: string): void {
    this.#notes.push(text);
    if (this.#notes.length > MAX_NOTES) this.#notes.shift();
  }

  takeNotes(): string[] {
    return this.#notes.splice(0);
  }
}
