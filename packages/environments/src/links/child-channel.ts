import {
  type BinaryFrames,
  type Channel,
  type ChannelEnd,
  ChannelError,
  type CloseOptions,
  createStdioChannel,
  type Received,
} from "@codex/channel";
import { EXIT_AFTER_STDOUT_MS, STDOUT_DRAIN_MS } from "../limits.js";
import type { Child } from "./child.js";
import { LinkError } from "./link-error.js";

/** A channel over the stdin and stdout of a program, which it owns: `close` ends the program. */
export class ChildChannel implements Channel {
  readonly closed: Promise<ChannelEnd>;
  readonly #child: Child;
  readonly #inner: Channel;
  readonly #explain: (how: string) => Error;
  #isClosed = false;

  /** @param explain creates the error for an unexpected end; `how` describes how the program ended */
  constructor(child: Child, explain: (how: string) => Error) {
    this.#child = child;
    this.#explain = explain;
    this.#inner = createStdioChannel({ input: child.stdout, output: child.stdin, skipsLeadingText: true });
    this.closed = this.#inner.closed.then((end) => this.#describeEnd(end));
    // Another process may keep its stdout open after it has exited, but cannot respond.
    void child.exited.then(() => {
      if (child.stdout.closed) return;
      const timer = setTimeout(() => child.stdout.destroy(), STDOUT_DRAIN_MS);
      child.stdout.once("close", () => clearTimeout(timer));
    });
  }

  get binary(): BinaryFrames | undefined {
    return this.#inner.binary;
  }

  get leadingTextBytes(): number {
    return this.#inner.leadingTextBytes ?? 0;
  }

  send(value: unknown): Promise<void> {
    return this.#explained(this.#inner.send(value));
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.#explained(this.#inner.sendEncoded(json, onWritten));
  }

  receive(): Promise<Received | undefined> {
    return this.#inner.receive();
  }

  async close(options?: CloseOptions): Promise<void> {
    this.#isClosed = true;
    await this.#inner.close(options);
    await this.#child.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Replaces a write error by the more specific exit reason of the program. */
  #explained(sent: Promise<void>): Promise<void> {
    const explained = sent.catch(async (error: unknown) => {
      if (this.#isClosed || !(error instanceof ChannelError) || error.code !== "closed") throw error;
      const end = await this.closed;
      if (end.kind !== "failed") throw error;
      throw new ChannelError("closed", end.error.message, { cause: end.error });
    });
    explained.catch(() => {}); // one that is not awaited is ignored, as with every channel
    return explained;
  }

  async #describeEnd(end: ChannelEnd): Promise<ChannelEnd> {
    if (end.kind === "closed" || this.#isClosed) return end;
    const exited = await this.#child.exitsWithin(EXIT_AFTER_STDOUT_MS);
    return { kind: "failed", error: this.#explain(exited ? await this.#child.exited : "closed its stdout") };
  }
}

/** An error with the program, how it ended, and the end of its stderr. */
export function toProgramError(program: string, how: string, stderrTail: string, isFinal = false): LinkError {
  const words = stderrTail === "" ? "" : `; last on its stderr: ${stderrTail}`;
  return new LinkError("program_failed", `\`${program}\` ${how}${words}`, isFinal);
}
