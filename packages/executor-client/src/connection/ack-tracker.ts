import type { ByteRange, OutputPosition, OutputStream } from "@codex/executor-protocol";
import { evictOldest } from "@codex/values";
import type { IncomingOutput } from "./live-output.js";

interface Position {
  /** Offset after the last received live output. */
  offset: number;
  /** Number of pieces that continued the message of the previous piece. */
  continued: number;
  /** Number and stream of the last piece. */
  seq: number;
  stream: OutputStream;
}

/** How a piece of output relates to the output before it. */
export interface OutputReceipt {
  /** The missing range before it. */
  gap: ByteRange | undefined;
  /** Its number among the pieces of its session. */
  seq: number;
}

/** Tracks the output received from an executor, and which of it to acknowledge. */
export class AckTracker {
  /** By the executor's ids; least recently used first. */
  readonly #positions = new Map<number, Position>();
  #ackBytes = Number.POSITIVE_INFINITY;
  /** End offset of consumed output that is not acknowledged yet, by process id. */
  readonly #taken = new Map<number, number>();
  #answers: string[] = [];
  #bytes = 0;
  /** Bytes since responses were acknowledged: the executor retains output with a response. */
  #bytesWithAnswers = 0;

  /** Makes an acknowledgement due after this many consumed bytes. */
  acknowledgeEvery(bytes: number): void {
    this.#ackBytes = bytes;
  }

  /** Starts over, for another instance of the executor. */
  clear(): void {
    this.#positions.clear();
    this.#ackBytes = Number.POSITIVE_INFINITY;
    this.forgetUnacknowledged();
  }

  /** Marks all positions as acknowledged: they were sent when the connection was resumed. */
  forgetUnacknowledged(): void {
    this.#taken.clear();
    this.#answers = [];
    this.#bytes = 0;
    this.#bytesWithAnswers = 0;
  }

  get positions(): OutputPosition[] {
    return [...this.#positions].map(([processId, { offset }]) => ({ processId, offset }));
  }

  /**
   * Records that no more output before this offset will come. Returns where that begins, with number and stream of the last piece;
   * undefined if everything before the offset was received, or it is not known what was.
   */
  skipTo(processId: number, offset: number): { from: number; seq: number; stream: OutputStream } | undefined {
    const position = this.#positions.get(processId);
    if (position === undefined || position.offset >= offset) return undefined;
    const { offset: from, seq, stream } = position;
    position.offset = offset;
    return { from, seq, stream };
  }

  /** Records received output. A first piece means that the id belongs to a new session. */
  noteOutput({ processId, offset, seq, stream, bytes, isContinued }: IncomingOutput): OutputReceipt {
    const isFirst = seq === 1 && !isContinued;
    const before = isFirst ? undefined : this.#positions.get(processId);
    const expected = before?.offset ?? 0;
    const continued = (before?.continued ?? 0) + (isContinued ? 1 : 0);
    this.#positions.delete(processId);
    const end = Math.max(expected, offset + bytes.length);
    this.#positions.set(processId, { offset: end, continued, seq: seq + continued, stream });
    evictOldest(this.#positions, MAX_POSITIONS);
    return { gap: offset > expected ? { from: expected, to: offset } : undefined, seq: seq + continued };
  }

  /** Records that a listener consumed output, which makes room for as many bytes. */
  noteTaken(processId: number, end: number, bytes: number): void {
    this.#taken.set(processId, end);
    this.#bytes += bytes;
    this.#bytesWithAnswers += bytes;
  }

  noteAnswer(requestId: string): void {
    if (this.#ackBytes === Number.POSITIVE_INFINITY) return;
    this.#answers.push(requestId);
  }

  /** The acknowledgement to send now; undefined if none is due. */
  takeDue(): { answers: string[]; output: OutputPosition[] } | undefined {
    const many = this.#answers.length >= ANSWERS_PER_ACK;
    const large = this.#answers.length > 0 && this.#bytesWithAnswers >= this.#ackBytes;
    if (this.#bytes < this.#ackBytes && !many && !large) return undefined;
    const answers = this.#answers;
    const output = [...this.#taken].map(([processId, offset]) => ({ processId, offset }));
    if (answers.length > 0) this.#bytesWithAnswers = 0;
    this.#taken.clear();
    this.#answers = [];
    this.#bytes = 0;
    return { answers, output };
  }
}

/**
 * Number of sessions tracked. For others, live output continues after the acknowledged offset. An executor reuses an id only
 * after more other ids than this.
 */
const MAX_POSITIONS = 1024;

/** Small responses are acknowledged together. */
const ANSWERS_PER_ACK = 16;
