import { type Channel, ChannelError } from "@codex/channel";
import { type ExecutorMessage, encodeOutputHead } from "@codex/executor-protocol";
import { messageOf } from "@codex/values";
import { MAX_DELTA_BYTES } from "../limits.js";
import type { LiveReceiver, OutputDelta } from "./live-output.js";

type ToolOutputMessage = Extract<ExecutorMessage, { type: "tool_output" }>;

/** What the orchestrator on a channel does. */
interface OrchestratorAbilities {
  acknowledges: boolean;
  /** It accepts binary frames. */
  binary: boolean;
  /** It renders the results of the standard tools. */
  rendersResults: boolean;
}

/**
 * Sends to one orchestrator, over the current channel. Nothing is queued here: the channel holds the sender back. What is
 * sent while there is no channel is dropped; a sender that must not lose it sends it again after a resume.
 */
export class Outbox implements LiveReceiver {
  #channel: Channel | undefined;
  #latest: Channel | undefined;
  /** Counts channels. */
  #epoch = 0;
  #initialized = false;
  #acknowledged = false;
  /** Live output goes in binary frames where it can. */
  #binary = false;
  #rendersResults = false;
  #over = false;
  readonly #maxBinaryDeltaBytes: number;
  readonly #waiting = new Set<(isBack: boolean) => void>();

  /** @param maxBinaryDeltaBytes the most bytes of output in one binary frame */
  constructor(channel: Channel, maxBinaryDeltaBytes: number) {
    this.#maxBinaryDeltaBytes = maxBinaryDeltaBytes;
    this.attach(channel);
  }

  /** Differs from channel to channel. */
  get epoch(): number {
    return this.#epoch;
  }

  get hasChannel(): boolean {
    return this.#channel !== undefined;
  }

  /** Whether no other channel has taken the place of this one. */
  isLatest(channel: Channel): boolean {
    return this.#latest === channel;
  }

  /** Everything is sent to this channel from now on. Returns the one that it replaces. */
  attach(channel: Channel): Channel | undefined {
    const before = this.#channel;
    this.#channel = channel;
    this.#latest = channel;
    this.#epoch += 1;
    this.#wakeWaiting(true);
    return before;
  }

  /** The channel has ended; another may come. */
  detach(channel: Channel): void {
    if (this.#channel === channel) this.#channel = undefined;
  }

  /** No other channel will come. */
  end(): void {
    this.#over = true;
    this.#wakeWaiting(false);
  }

  async close(): Promise<void> {
    await this.#channel?.close();
  }

  /** From now on notifications may be sent. */
  initialize({ acknowledges, binary, rendersResults }: OrchestratorAbilities): void {
    this.#initialized = true;
    this.#acknowledged = acknowledges;
    this.#binary = binary;
    this.#rendersResults = rendersResults;
  }

  /** The orchestrator renders the results of the standard tools itself. */
  get rendersResults(): boolean {
    return this.#rendersResults;
  }

  isLive(): boolean {
    return this.#initialized;
  }

  /** The channel can carry binary frames. */
  get canSendBinary(): boolean {
    return this.#channel?.binary !== undefined;
  }

  get maxDeltaBytes(): number {
    return this.#binary ? this.#maxBinaryDeltaBytes : MAX_DELTA_BYTES;
  }

  get reportsWritten(): boolean {
    return !this.#binary || this.#channel?.binary?.reportsWritten === true;
  }

  get acknowledges(): boolean {
    return this.#acknowledged;
  }

  /** Resolves with why this message alone could not be sent. Never rejects; after the end of the channel it is dropped. */
  async send(message: ExecutorMessage): Promise<string | undefined> {
    return this.#channel === undefined ? undefined : sendOn(this.#channel, message);
  }

  /** Live output. @throws when the channel has ended. */
  async sendOutput(delta: OutputDelta, onWritten: () => void): Promise<void> {
    const channel = this.#channel;
    if (channel === undefined) throw new ChannelError("closed", "there is no channel");
    try {
      await this.#sendDelta(channel, delta, onWritten);
    } catch (error) {
      if (isOver(error)) this.detach(channel);
      throw error;
    }
  }

  #sendDelta(channel: Channel, delta: OutputDelta, onWritten: () => void): Promise<void> {
    const head = this.#binary ? encodeOutputHead(delta) : undefined;
    if (head !== undefined && channel.binary !== undefined) return channel.binary.send(head, delta.bytes, onWritten);
    const json = encodeDelta(delta); // a copy
    onWritten();
    return channel.sendEncoded(json);
  }

  /** After `sendOutput` threw: resolves with true once there is a channel again, with false when there will be none. */
  recover(error: unknown, signal: AbortSignal): Promise<boolean> {
    if (!isOver(error) || this.#over || signal.aborted) return Promise.resolve(false);
    if (this.#channel !== undefined) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (isBack: boolean) => {
        this.#waiting.delete(settle);
        signal.removeEventListener("abort", onAbort);
        resolve(isBack);
      };
      const onAbort = () => settle(false);
      this.#waiting.add(settle);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Sends a notification; does nothing before `initialize`. */
  async notify(message: Notification): Promise<void> {
    if (this.#initialized) await this.send(message);
  }

  #wakeWaiting(isBack: boolean): void {
    for (const settle of [...this.#waiting]) settle(isBack);
  }
}

/** Resolves with why this message alone could not be sent. Never rejects; after the end of the channel it is dropped. */
export async function sendOn(channel: Channel, message: ExecutorMessage): Promise<string | undefined> {
  try {
    await channel.send(message);
    return undefined;
  } catch (error) {
    return isOver(error) ? undefined : messageOf(error);
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

/** Messages that are no responses; sent only after `initialize`. */
type Notification = Extract<
  ExecutorMessage,
  {
    type:
      | "tools_changed"
      | "session_exited"
      | "program_question"
      | "host_question"
      | "host_report"
      | "question_withdrawn";
  }
>;

const isOver = (error: unknown): boolean =>
  error instanceof ChannelError && (error.code === "closed" || error.code === "connection_lost");
