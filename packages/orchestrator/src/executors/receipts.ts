import type { ByteRange, OutputPosition } from "@codex/executor-protocol";
import type { ToolOutputMessage } from "./live-output.js";

type Output = Pick<ToolOutputMessage, "processId" | "offset" | "seq">;

/** What was received of an executor, and what of it the executor was told. */
export class Receipts {
  /** Offsets behind the live output that was received, by the executor's ids; least recently used first. */
  readonly #positions = new Map<number, number>();
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

  /** Another life of the executor: nothing was received. */
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
    return [...this.#positions].map(([processId, offset]) => ({ processId, offset }));
  }

  /**
   * Output came, decoded so many bytes. Answers the range that is missing before it; undefined where it follows on what
   * came before. The first of a session says that an id names another one now.
   */
  noteOutput({ processId, offset, seq }: Output, bytes: number): ByteRange | undefined {
    const expected = seq === 1 ? 0 : (this.#positions.get(processId) ?? 0);
    this.#positions.delete(processId);
    this.#positions.set(processId, Math.max(expected, offset + bytes));
    const [oldest] = this.#positions.keys();
    if (this.#positions.size > MAX_POSITIONS && oldest !== undefined) this.#positions.delete(oldest);
    return offset > expected ? { from: expected, to: offset } : undefined;
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
