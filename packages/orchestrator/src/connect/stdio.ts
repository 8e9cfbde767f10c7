import {
  type BinaryFrames,
  type Channel,
  type ChannelEnd,
  type CloseOptions,
  createStdioChannel,
  type Received,
} from "@codex/channel";
import type { ExecutorChild, StdioCommand } from "./child.js";

/**
 * Starts a command and communicates with it over its stdin and stdout. The channel owns the process: `close` ends it, by closing
 * its stdin, then SIGTERM, then SIGKILL to its group. If this process dies, the stdin of the executor is closed as well.
 * @throws OrchestratorError `connect_failed` naming the command.
 */
export async function connectStdio(command: StdioCommand): Promise<Channel> {
  // Loaded here, so that a start that uses no command reads less code.
  const { spawnExecutor } = await import("./child.js");
  return new ChildChannel(await spawnExecutor(command));
}

class ChildChannel implements Channel {
  readonly closed: Promise<ChannelEnd>;
  readonly #child: ExecutorChild;
  readonly #inner: Channel;

  constructor(child: ExecutorChild) {
    const { input, output } = child.streams;
    this.#child = child;
    this.#inner = createStdioChannel({ input, output, skipsLeadingText: true });
    this.closed = this.#inner.closed.then((end) => this.#explain(end));
    // A grandchild may have stdout open after the executor has exited, but cannot respond.
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

  /** Adds the exit status and the end of stderr to an end that was not caused by `close`. */
  async #explain(end: ChannelEnd): Promise<ChannelEnd> {
    if (end.kind !== "peer_closed") return end;
    const exited = await this.#child.exitsWithin(EXIT_AFTER_STDOUT_MS);
    const how = exited ? await this.#child.exited : "closed its stdout and is still running";
    const { stderrTail } = this.#child;
    const words = stderrTail === "" ? "" : `; last on its stderr: ${stderrTail}`;
    return { kind: "peer_closed", detail: `the executor process ${how}${words}` };
  }
}

/** Time to read the output left in the pipe after the exit of the process, milliseconds. */
const REST_OF_STDOUT_MS = 500;
/** Time between the end of stdout and the exit status, milliseconds. */
const EXIT_AFTER_STDOUT_MS = 1_000;
