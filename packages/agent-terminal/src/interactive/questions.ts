import { PassThrough } from "node:stream";
import type { Clock } from "@codex/clock";
import type { Key } from "../input/keys.js";
import { QUESTION_PAUSE_MS } from "../limits.js";

/** A terminal on which a question is asked: `input` has the keys that answer it. */
export interface QuestionTerminal {
  readonly input: NodeJS.ReadableStream & { isTTY: boolean };
  readonly output: NodeJS.WriteStream;
}

/** What questions need of the conversation that they interrupt. */
export interface QuestionsOptions {
  readonly output: NodeJS.WriteStream;
  readonly clock: Pick<Clock, "now">;
  /** A text is being typed: keys belong to it until there is a pause. */
  readonly isTyping: () => boolean;
  /** The terminal belongs to the question. */
  readonly onOpen: () => void;
  readonly onClose: () => void;
}

/** Questions in the middle of a conversation, one at a time. */
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

  /** Runs a dialog once those before it are over. */
  ask<T>(dialog: (terminal: QuestionTerminal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const asked = this.#last.then(() => this.#ask(dialog, signal));
    this.#last = asked.catch(() => {});
    return asked;
  }

  /** Takes a key that answers the question that is open. False when it belongs to the text that is being typed. */
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
