import { PassThrough } from "node:stream";
import type { Clock } from "@codex/clock";
import type { Key } from "../input/keys.js";
import { QUESTION_PAUSE_MS } from "../limits.js";

/** Terminal of a dialog; `input` receives its keys. */
export interface QuestionTerminal {
  readonly input: NodeJS.ReadableStream & { isTTY: boolean };
  readonly output: NodeJS.WriteStream;
}

/** Options of {@link Questions}. */
export interface QuestionsOptions {
  readonly output: NodeJS.WriteStream;
  readonly clock: Pick<Clock, "now">;
  /** The user is typing: keys go to the message until there is a pause. */
  readonly isTyping: () => boolean;
  /** Called when a dialog takes the terminal. */
  readonly onOpen: () => void;
  readonly onClose: () => void;
}

/** Runs dialogs during a conversation, one at a time. */
export class Questions {
  readonly #options: QuestionsOptions;
  #last: Promise<unknown> = Promise.resolve();
  #open: { input: PassThrough; isTyping: boolean; lastKeyAt: number } | undefined;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Runs a dialog after the previous ones. */
  ask<T>(dialog: (terminal: QuestionTerminal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const asked = this.#last.then(() => this.#ask(dialog, signal));
    this.#last = asked.catch(() => {});
    return asked;
  }

  /** Passes a key to the open dialog. Returns false when the key belongs to the message being typed. */
  take(key: Key): boolean {
    const open = this.#open;
    if (open === undefined || key.name === "paste") return false;
    const now = this.#options.clock.now();
    if (open.isTyping && now - open.lastKeyAt < QUESTION_PAUSE_MS) {
      open.lastKeyAt = now;
      return false;
    }
    open.isTyping = false;
    open.input.write(key.raw);
    return true;
  }

  async #ask<T>(dialog: (terminal: QuestionTerminal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const { output, clock, isTyping, onOpen, onClose } = this.#options;
    const input = new PassThrough();
    onOpen();
    this.#open = { input, isTyping: isTyping(), lastKeyAt: clock.now() };
    if (this.#open.isTyping)
      output.write("\n(What you type still goes to your message, until you pause for a second.)\n");
    try {
      return await dialog({ input: Object.assign(input, { isTTY: true }), output });
    } catch (error) {
      output.write("\n");
      throw error;
    } finally {
      this.#open = undefined;
      input.destroy();
      onClose();
    }
  }
}
