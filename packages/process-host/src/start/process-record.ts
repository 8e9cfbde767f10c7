import { DEFAULT_LOG_LIMITS, type LogHost, type ProcessSpec, RetainedLog } from "@codex/exec-backend";
import type { OutputStream } from "@codex/executor-protocol";
import type { ByteSink, ByteSource, ExitStatus, Native } from "@codex/native";
import type { Counter } from "@codex/telemetry";

/** Output and exit of a process, recorded from the moment it is started. */
export class ProcessRecord implements LogHost {
  readonly log: RetainedLog;
  /** Resolves when the spawned process has exited. */
  readonly exit: Promise<ExitStatus>;
  /** Resolves when all of its streams have ended. */
  readonly streamsEnded: Promise<void>;
  readonly #native: Native;
  readonly #outputBytes: Counter;
  #sources: ByteSource[] = [];
  #openStreams = 0;
  #resolveExit!: (status: ExitStatus) => void;
  #resolveStreamsEnded!: () => void;

  constructor(limits: ProcessSpec["log"], { native, outputBytes }: { native: Native; outputBytes: Counter }) {
    this.#native = native;
    this.#outputBytes = outputBytes;
    this.log = new RetainedLog({ ...DEFAULT_LOG_LIMITS, ...limits }, this);
    this.exit = new Promise((resolve) => {
      this.#resolveExit = resolve;
    });
    this.streamsEnded = new Promise((resolve) => {
      this.#resolveStreamsEnded = resolve;
    });
  }

  /** Number of streams that have not ended. */
  get openStreams(): number {
    return this.#openStreams;
  }

  /** Reads one of its streams until it ends. All are opened before any of them can end. */
  read<S extends ByteSource>(stream: OutputStream, open: (sink: ByteSink) => S): S {
    const source = open({
      onBytes: (bytes) => {
        this.#outputBytes.value += bytes.length;
        this.log.append(stream, bytes);
      },
      onEnd: () => this.#onStreamEnd(),
    });
    this.#openStreams += 1;
    this.#sources.push(source);
    return source;
  }

  onExit(status: ExitStatus): void {
    this.#resolveExit(status);
  }

  onPressure(pause: boolean): void {
    for (const source of this.#sources) pause ? source.pause() : source.resume();
  }

  now(): number {
    return performance.now();
  }

  onDropped(bytes: Buffer): void {
    this.#native.readMemory.pipeChunks.release(bytes);
  }

  /** Stops reading, and drops the output. */
  close(): void {
    for (const source of this.#sources) source.close();
    this.log.close();
  }

  #onStreamEnd(): void {
    this.#openStreams -= 1;
    if (this.#openStreams > 0) return;
    this.#sources = [];
    this.#resolveStreamsEnded();
  }
}
