import type { ByteRange, OutputPosition } from "@codex/executor-protocol";
import { deleteOldest } from "../delete-oldest.js";
import type { IncomingOutput } from "./live-output.js";

interface Position {
  /** Behind the live output that was received. */
  offset: number;
  /** Pieces that went on with the message of the one before. */
  continued: number;
}

/** How a piece of output relates to what came before it. */
export interface OutputReceipt {
  /** The range that is missing before it. */
  gap: ByteRange | undefined;
  /** Its number among the pieces of its session. */
  seq: number;
}

/** Tracks what was received from an executor, and what of it is to be acknowledged. */
export class AckTracker {
  /** By the executor's ids; least recently used first. */
  readonly #positions = new Map<number, Position>();
  #ackBytes = Number.POSITIVE_INFINITY;
  /** End of what was taken and is not acknowledged yet, by process id. */
  readonly #taken = new Map<number, number>();
  #answers: string[] = [];
  #bytes = 0;
  /** Bytes since answers were acknowledged: the executor keeps output with an answer. */
  #bytesWithAnswers = 0;

  /** Makes an acknowledgement due whenever so many bytes were taken. */
  acknowledgeEvery(bytes: number): void {
    this.#ackBytes = bytes;
  }

  /** Starts over, for another instance of the executor. */
  clear(): void {
    this.#positions.clear();
    this.#ackBytes = Number.POSITIVE_INFINITY;
    this.forgetUnacknowledged();
  }

  /** The executor knows all positions: they were sent when the connection was resumed. */
  forgetUnacknowledged(): void {
    this.#taken.clear();
    this.#answers = [];
    this.#bytes = 0;
    this.#bytesWithAnswers = 0;
  }

  get positions(): OutputPosition[] {
    return [...this.#positions].map(([processId, { offset }]) => ({ processId, offset }));
  }

  /** Records output that was received. The first piece of a session means that its id was given to a new session. */
  noteOutput({ processId, offset, seq, bytes, isContinued }: IncomingOutput): OutputReceipt {
    const isFirst = seq === 1 && !isContinued;
    const before = isFirst ? undefined : this.#positions.get(processId);
    const expected = before?.offset ?? 0;
    const continued = (before?.continued ?? 0) + (isContinued ? 1 : 0);
    this.#positions.delete(processId);
    this.#positions.set(processId, { offset: Math.max(expected, offset + bytes.length), continued });
    deleteOldest(this.#positions, MAX_POSITIONS);
    return { gap: offset > expected ? { from: expected, to: offset } : undefined, seq: seq + continued };
  }

  /** Records that a listener took output: there is room for as many bytes more. */
  noteTaken(processId: number, end: number, bytes: number): void {
    this.#taken.set(processId, end);
    this.#bytes += bytes;
    this.#bytesWithAnswers += bytes;
  }

  noteAnswer(requestId: string): void {
    if (this.#ackBytes === Number.POSITIVE_INFINITY) return;
    this.#answers.push(requestId);
  }

  /** The acknowledgement to send now; undefined while it can wait. */
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
 * Live output of a session that is not among them goes on from what was acknowledged. An executor gives an id again only
 * after more others than this.
 */
const MAX_POSITIONS = 1024;

/** Small answers are acknowledged together. */
const ANSWERS_PER_ACK = 16;
