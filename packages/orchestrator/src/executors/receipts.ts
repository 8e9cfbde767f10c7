import type { ByteRange, OutputPosition } from "@codex/executor-protocol";
import type { IncomingOutput } from "./live-output.js";

interface Position {
  /** Behind the live output that was received. */
  offset: number;
  /** Pieces that went on with the message of the one before. */
  continued: number;
}

/** How output follows on what came before. */
export interface OutputReceipt {
  /** The range that is missing before it. */
  gap: ByteRange | undefined;
  /** Its number among the pieces of its session. */
  seq: number;
}

/** What was received of an executor, and what of it the executor was told. */
export class Receipts {
  /** By the executor's ids; least recently used first. */
  readonly #positions = new Map<number, Position>();
  #ackBytes = Number.POSITIVE_INFINITY;
  /** Offsets behind what was taken and the executor was not told of yet. */
  readonly #moved = new Map<number, number>();
  #answers: string[] = [];
  #bytes = 0;
  /** Bytes since answers were acknowledged: the executor keeps output with an answer. */
  #bytesWithAnswers = 0;

  /** Acknowledges at least each time so many bytes came. */
  acknowledgeEvery(bytes: number): void {
    this.#ackBytes = bytes;
  }

  /** Another instance of the executor: nothing was received. */
  clear(): void {
    this.#positions.clear();
    this.#ackBytes = Number.POSITIVE_INFINITY;
    this.forgetUntold();
  }

  /** The executor was told of all positions. */
  forgetUntold(): void {
    this.#moved.clear();
    this.#answers = [];
    this.#bytes = 0;
    this.#bytesWithAnswers = 0;
  }

  get positions(): OutputPosition[] {
    return [...this.#positions].map(([processId, { offset }]) => ({ processId, offset }));
  }

  /** Output came. The first of a session says that an id names another one now. */
  noteOutput({ processId, offset, seq, bytes, isContinued }: IncomingOutput): OutputReceipt {
    const isFirst = seq === 1 && !isContinued;
    const before = isFirst ? undefined : this.#positions.get(processId);
    const expected = before?.offset ?? 0;
    const continued = (before?.continued ?? 0) + (isContinued ? 1 : 0);
    this.#positions.delete(processId);
    this.#positions.set(processId, { offset: Math.max(expected, offset + bytes.length), continued });
    const [oldest] = this.#positions.keys();
    if (this.#positions.size > MAX_POSITIONS && oldest !== undefined) this.#positions.delete(oldest);
    return { gap: offset > expected ? { from: expected, to: offset } : undefined, seq: seq + continued };
  }

  /** Output that came need not wait here any more: there is room for as much. */
  noteTaken(processId: number, end: number, bytes: number): void {
    this.#moved.set(processId, end);
    this.#bytes += bytes;
    this.#bytesWithAnswers += bytes;
  }

  noteAnswer(requestId: string): void {
    if (this.#ackBytes === Number.POSITIVE_INFINITY) return;
    this.#answers.push(requestId);
  }

  /** What the executor is to be told now; undefined while that can wait. */
  takeDue(): { answers: string[]; output: OutputPosition[] } | undefined {
    const many = this.#answers.length >= ANSWERS_PER_ACK;
    const large = this.#answers.length > 0 && this.#bytesWithAnswers >= this.#ackBytes;
    if (this.#bytes < this.#ackBytes && !many && !large) return undefined;
    const answers = this.#answers;
    const output = [...this.#moved].map(([processId, offset]) => ({ processId, offset }));
    if (answers.length > 0) this.#bytesWithAnswers = 0;
    this.#moved.clear();
    this.#answers = [];
    this.#bytes = 0;
    return { answers, output };
  }
}

/**
 * Live output of a session that is not among them goes on from what was acknowledged. An executor gives an id again only
 * after more others than this.
 */
const MAX_POSITIONS = 1024;

/** Small answers are acknowledged together. */
const ANSWERS_PER_ACK = 16;
