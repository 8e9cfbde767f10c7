import {
  type BinaryFrames,
  type Channel,
  type ChannelEnd,
  type CloseOptions,
  createStdioChannel,
  type Received,
} from "@codex/channel";
import { type ExecutorChild, type StdioCommand, spawnExecutor } from "./child.js";

/**
 * Starts a command and speaks with it over its stdin and stdout. The channel owns the process: `close` ends it, by the
 * end of its stdin, then SIGTERM, then SIGKILL to its group. If this process dies, the executor sees the same end of
 * its stdin.
 * @throws OrchestratorError `connect_failed` naming the command.
 */
export async function connectStdio(command: StdioCommand): Promise<Channel> {
  return new ChildChannel(await spawnExecutor(command));
}

class ChildChannel implements Channel {
  readonly closed: Promise<ChannelEnd>;
  readonly #child: ExecutorChild;
  readonly #inner: Channel;

  constructor(child: ExecutorChild) {
    const { input, output } = child.streams;
    this.#child = child;
    this.#inner = createStdioChannel({ input, output });
    this.closed = this.#inner.closed.then((end) => this.#explain(end));
    // A grandchild may hold stdout open after the executor has exited; no answer can come from it.
    void child.exited.then(() => {
      if (input.closed) return;
      const timer = setTimeout(() => input.destroy(), REST_OF_STDOUT_MS);
      input.once("close", () => clearTimeout(timer));
    });
  }

  send(value: unknown): Promise<void> {
    return this.#inner.send(value);
  }

  sendEncoded(json: Uint8Array): Promise<void> {
    return this.#inner.sendEncoded(json);
  }

  get binary(): BinaryFrames | undefined {
    return this.#inner.binary;
  }

  receive(): Promise<Received | undefined> {
    return this.#inner.receive();
  }

  async close(options?: CloseOptions): Promise<void> {
    await this.#inner.close(options);
    await this.#child.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Adds the exit of the process and the end of its stderr to an end that was not ours. */
  async #explain(end: ChannelEnd): Promise<ChannelEnd> {
    if (end.kind !== "peer_closed") return end;
    const exited = await this.#child.exitsWithin(EXIT_AFTER_STDOUT_MS);
    const how = exited ? await this.#child.exited : "closed its stdout and still runs";
    const { lastWords } = this.#child;
    const words = lastWords === "" ? "" : `; last on its stderr: ${lastWords}`;
    return { kind: "peer_closed", detail: `the executor process ${how}${words}` };
  }
}

/** For what a process left in its pipe when it exited, milliseconds. */
const REST_OF_STDOUT_MS = 500;
/** Between the end of stdout and the exit status, milliseconds. */
const EXIT_AFTER_STDOUT_MS = 1_000;
