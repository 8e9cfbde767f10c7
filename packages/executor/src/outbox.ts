import { type Channel, ChannelError } from "@codex/channel";
import type { ExecutorMessage } from "@codex/executor-protocol";
import { messageOf } from "./errors.js";
import type { OutputDelta } from "./sessions/live-output.js";

type ToolOutputMessage = Extract<ExecutorMessage, { type: "tool_output" }>;

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
      return isOver(error) ? undefined : messageOf(error);
    }
  }

  /** Live output. @throws when the channel has ended. */
  sendOutput(delta: OutputDelta): Promise<void> {
    return this.#channel.sendEncoded(encodeDelta(delta));
  }

  /** Something nobody asked for; only after `initialize`. */
  async notify(message: Extract<ExecutorMessage, { type: "tools_changed" | "session_exited" }>): Promise<void> {
    if (this.#initialized) await this.send(message);
  }
}

/** A `tool_output`, written straight into one buffer: made as an object its chunk would be copied at every step. */
function encodeDelta({ bytes, ...delta }: OutputDelta): Buffer {
  const fields = { type: "tool_output", ...delta } satisfies Omit<ToolOutputMessage, "chunk">;
  const head = `${JSON.stringify(fields).slice(0, -1)},"chunk":"`;
  const headBytes = Buffer.byteLength(head);
  const json = Buffer.allocUnsafe(headBytes + Math.ceil(bytes.length / 3) * 4 + 2);
  json.write(head);
  const end = headBytes + json.write(bytes.toString("base64"), headBytes, "latin1");
  json.write('"}', end);
  return json;
}

const isOver = (error: unknown): boolean =>
  error instanceof ChannelError && (error.code === "closed" || error.code === "connection_lost");
