import type { ReceivedBytes } from "@codex/channel";
import { decodeOutputHead, type OutputHead } from "@codex/executor-protocol";
import type { IncomingOutput } from "./live-output.js";

/** Reads the binary frames of one channel. Parts of a frame are passed on as they arrive, split between characters. */
export class BinaryOutput {
  #head: Buffer | undefined;
  #output: OutputHead | undefined;
  #isContinued = false;
  /** The first bytes of an incomplete character. */
  #torn: Buffer = NOTHING;

  /** The pieces that are complete now, or the problem with the frame, reported once. */
  read({ head, at, bytes, isLast }: ReceivedBytes): IncomingOutput[] | string {
    if (head !== this.#head) {
      const problem = this.#begin(head);
      if (problem !== undefined) return problem;
    }
    const output = this.#output;
    if (output === undefined) return [];
    const pieces: IncomingOutput[] = [];
    const take = (from: number, piece: Buffer) => {
      if (piece.length === 0) return;
      pieces.push({ ...output, offset: output.offset + from, bytes: piece, isContinued: this.#isContinued });
      this.#isContinued = true;
    };
    const rest = this.#torn.length === 0 ? 0 : countContinuation(bytes);
    const torn = rest === 0 ? this.#torn : Buffer.concat([this.#torn, bytes.subarray(0, rest)]);
    if (rest === bytes.length && !isLast && bytes.length > 0 && torn.length < LONGEST_CHARACTER && rest > 0) {
      this.#torn = torn;
      return pieces;
    }
    take(at - this.#torn.length, torn);
    const whole = isLast ? bytes.length : bytes.length - countIncomplete(bytes.subarray(rest));
    take(at + rest, bytes.subarray(rest, whole));
    this.#torn = whole === bytes.length ? NOTHING : Buffer.from(bytes.subarray(whole));
    return pieces;
  }

  #begin(head: Buffer): string | undefined {
    this.#head = head;
    this.#isContinued = false;
    this.#torn = NOTHING;
    const output = decodeOutputHead(head);
    this.#output = typeof output === "string" ? undefined : output;
    return typeof output === "string" ? output : undefined;
  }
}

const NOTHING = Buffer.alloc(0);

/** Maximum bytes of a UTF-8 character. */
const LONGEST_CHARACTER = 4;

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Bytes at the start that belong to the previous character: 0 to 3. */
function countContinuation(bytes: Uint8Array): number {
  let count = 0;
  while (count < LONGEST_CHARACTER - 1 && count < bytes.length && isContinuation(bytes[count]!)) count++;
  return count;
}

/** Bytes at the end that form an incomplete character: 0 to 3. */
function countIncomplete(bytes: Uint8Array): number {
  for (let back = 1; back < LONGEST_CHARACTER && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
