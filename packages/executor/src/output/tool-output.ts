import { createOutputLog, type WritableOutputLog } from "@codex/exec-backend";
import type { OutputStream } from "@codex/executor-protocol";
import { MAX_DELTA_BYTES, TOOL_OUTPUT_BYTES } from "../limits.js";
import type { KeptOutput } from "./kept-output.js";
import { type LiveFollower, LiveOutputSender, type LiveReceiver } from "./live-output.js";
import { getRetention } from "./retention.js";

/** Live output of one call of a tool without sessions, retained until it was received. */
export class ToolOutput {
  /** Its id on the wire. */
  readonly processId: number;
  readonly live: LiveOutputSender;
  readonly #requestId: string;
  readonly #log: WritableOutputLog;
  readonly #follower: LiveFollower;
  #emitted = Promise.resolve();
  #finished = false;
  #isPaused = false;
  #wake = () => {};

  constructor(requestId: string, receiver: LiveReceiver, processId: number) {
    this.processId = processId;
    this.#requestId = requestId;
    const { log, windowBytes } = getRetention({ headBytes: 0, tailBytes: TOOL_OUTPUT_BYTES }, "drop");
    this.#log = createOutputLog(log, (pause) => {
      this.#isPaused = pause;
      if (!pause) this.#wake();
    });
    this.live = new LiveOutputSender({ log: this.#log, processId, receiver, getWindow: () => windowBytes });
    this.#follower = this.live.follow(requestId);
  }

  /** Sends output in order, also for a tool that does not await. Resolves when there is room for more; never rejects. */
  emit(bytes: Buffer, stream: OutputStream): Promise<void> {
    this.#emitted = this.#emitted.then(async () => {
      for (let at = 0; at < bytes.length && !this.#finished; at += CHUNK_BYTES) {
        this.#log.append(stream, bytes.subarray(at, at + CHUNK_BYTES));
        await this.#untilResumed();
      }
    });
    return this.#emitted;
  }

  /** Ends the output. Resolves with the output that may have to be sent again, once all of it was sent or cannot be sent. */
  async finish(): Promise<KeptOutput> {
    await this.#emitted;
    this.#finished = true;
    this.#log.finish();
    const { end } = this.#log;
    await this.#follower.finish(end);
    return {
      bytes: Math.min(end, TOOL_OUTPUT_BYTES),
      replay: () => this.live.replay(this.#requestId, end),
      undo: () => {},
      release: () => this.#log.close(),
    };
  }

  async #untilResumed(): Promise<void> {
    while (this.#isPaused) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Small compared with the retained output, so that nothing in flight is evicted. */
const CHUNK_BYTES = 4 * MAX_DELTA_BYTES;
