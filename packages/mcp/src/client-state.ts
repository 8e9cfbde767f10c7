import type { Conversation } from "@codex/orchestrator";
import { MAX_NOTES } from "./limits.js";
import { ParkedCalls } from "./parked-calls.js";

/** The state of one client between its requests. */
export class ClientState {
  readonly conversation: Conversation;
  readonly parked = new ParkedCalls();
  readonly #notes: string[] = [];

  constructor(conversation: Conversation) {
    this.conversation = conversation;
  }

  /** Adds a note to the next result, about an event that the client has not seen. */
  note(text: string): void {
    this.#notes.push(text);
    if (this.#notes.length > MAX_NOTES) this.#notes.shift();
  }

  takeNotes(): string[] {
    return this.#notes.splice(0);
  }
}
