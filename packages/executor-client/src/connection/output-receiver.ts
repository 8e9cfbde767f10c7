import type { ReceivedBytes } from "@codex/channel";
import { byteRangeSchema } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import type { ExecutorConnectionLimits } from "../limits.js";
import { AckTracker } from "./ack-tracker.js";
import { BinaryOutput } from "./binary-output.js";
import { decodeOutput, type IncomingOutput, type ToolOutputMessage } from "./live-output.js";
import { OutputBudget, type OutputListener, OutputQueue } from "./output-queue.js";
import type { ProblemLog } from "./problems.js";

export interface OutputReceiverOptions {
  limits: ExecutorConnectionLimits;
  problems: ProblemLog;
  /** The queue of an open request; undefined if it has no listener. */
  findQueue: (requestId: string) => OutputQueue | undefined;
  /** Whether a request with this id was sent and is settled. */
  isSettled: (requestId: string) => boolean;
  /** Called when an acknowledgement is due. */
  onAckDue: () => void;
}

/** Receives the live output of all calls to one executor: decodes, orders, queues and acknowledges it. */
export class OutputReceiver {
  readonly acks = new AckTracker();
  readonly #options: OutputReceiverOptions;
  readonly #budget: OutputBudget;
  /** Queues of requests without a reply. */
  readonly #queues = new Set<OutputQueue>();
  /** Reader of the current channel's binary frames. */
  #binary = new BinaryOutput();

  constructor(options: OutputReceiverOptions) {
    this.#options = options;
    this.#budget = new OutputBudget(options.limits);
  }

  /** Opens the queue of a request; undefined if it has no listener. */
  open(listener: OutputListener | undefined): OutputQueue | undefined {
    if (listener === undefined) return undefined;
    const queue = new OutputQueue(listener, this.#budget, ({ processId, offset, bytes }) =>
      this.#noteTaken(processId, offset, bytes.length),
    );
    this.#queues.add(queue);
    return queue;
  }

  forget(queue: OutputQueue | undefined): void {
    if (queue !== undefined) this.#queues.delete(queue);
  }

  /** Resets the binary reader for a new channel. */
  startChannel(): void {
    this.#binary = new BinaryOutput();
  }

  /** Resets for another instance of the executor: earlier output is not acknowledged to it. */
  startInstance(unused: ReadonlySet<OutputQueue | undefined>): void {
    this.acks.clear();
    for (const queue of this.#queues) if (!unused.has(queue)) queue.detach();
  }

  /** Stops delivery to all listeners. */
  drop(): void {
    for (const queue of [...this.#queues]) queue.drop();
  }

  /**
   * Reports to the listener of a call the end of the output that its result covers and that never came: live output is sent before the
   * result, so the executor does not have it. `named`: the session that the call names.
   */
  endOutput(queue: OutputQueue | undefined, named: number | undefined, structured: unknown): void {
    const processId = queue?.processId ?? named;
    const to = getEnd(structured);
    if (queue === undefined || processId === undefined || to === undefined) return;
    const skipped = this.acks.skipTo(processId, to);
    if (skipped === undefined) return;
    const { from, ...last } = skipped;
    queue.push({ ...last, processId, offset: to, bytes: NOTHING, dropped: { from, to } });
  }

  /** Handles a `tool_output` message. A returned promise is pending while a queue is full. */
  handleMessage(message: ToolOutputMessage): void | Promise<void> {
    const output = decodeOutput(message);
    if (typeof output !== "string") return this.#receive(output);
    this.#options.problems.note("invalid_output", output);
  }

  /** Like `receive`, for a binary frame. */
  handleBytes(received: ReceivedBytes): void | Promise<void> {
    const pieces = this.#binary.read(received);
    if (typeof pieces === "string") return this.#options.problems.note("malformed", pieces);
    // All pieces belong to one call, so waiting for the last one suffices.
    return pieces.map((piece) => this.#receive(piece)).at(-1);
  }

  #receive(output: IncomingOutput): void | Promise<void> {
    const { processId, stream, offset, requestId, bytes } = output;
    const { gap: dropped, seq } = this.acks.noteOutput(output);
    const queue = this.#options.findQueue(requestId);
    if (queue?.accept(output, seq)) {
      queue.push({ processId, stream, offset, seq, bytes, ...defined({ dropped }) });
      // A slow listener causes back-pressure: by missing acknowledgements, and at the limit by not receiving.
      return this.#budget.waitForRoom(queue);
    }
    this.#noteTaken(processId, offset, bytes.length);
    if (queue !== undefined || this.#options.isSettled(requestId)) return;
    this.#options.problems.note("unknown_request", `tool_output for request \`${requestId}\``);
  }

  #noteTaken(processId: number, offset: number, length: number): void {
    this.acks.noteTaken(processId, offset + length, length);
    this.#options.onAckDue();
  }
}

const NOTHING = Buffer.alloc(0);

/** Offset after the output that the result of a unified-exec call covers. */
function getEnd(structured: unknown): number | undefined {
  if (typeof structured !== "object" || structured === null || !("range" in structured)) return undefined;
  return byteRangeSchema.safeParse(structured.range).data?.to;
}
