import { type Channel, ChannelError } from "@codex/channel";
import type { ExecutorMessage } from "@codex/executor-protocol";
import { messageOf } from "./errors.js";
import type { OutputDelta } from "./sessions/live-output.js";

/** What goes to one orchestrator. Nothing of it waits here: who sends is held back by the channel. */
export class Outbox {
  readonly #channel: Channel;
  #initialized = false;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  /** From now on the orchestrator may be told things it did not ask for. */
  initialize(): void {
    this.#initialized = true;
  }

  isLive(): boolean {
    return this.#initialized;
  }

  /** Never rejects; answers why this message alone could not be sent. After the end of the channel it goes nowhere. */
  async send(message: ExecutorMessage): Promise<string | undefined> {
    try {
      await this.#channel.send(message);
      return undefined;
    } catch (error) {
      return isPerMessage(error) ? messageOf(error) : undefined;
    }
  }

  /** Live output. @throws when the channel has ended. */
  async sendOutput({ bytes, ...delta }: OutputDelta): Promise<void> {
    const message = { type: "tool_output", ...delta, chunk: bytes.toString("base64") } satisfies ExecutorMessage;
    await this.#channel.send(message);
  }

  /** Something nobody asked for; only after `initialize`. */
  async notify(message: Extract<ExecutorMessage, { type: "tools_changed" | "session_exited" }>): Promise<void> {
    if (this.#initialized) await this.send(message);
  }
}

/** The channel goes on, only this message did not fit. */
const isPerMessage = (error: unknown): boolean =>
  error instanceof ChannelError && ["too_large", "too_deep", "unserializable"].includes(error.code);
