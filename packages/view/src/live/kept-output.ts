import { KEPT_OUTPUT_BYTES } from "../limits.js";

/** Small pieces that come within this time are copied into one up to this size: bytes, milliseconds. */
const JOINED_BYTES = 4 * 1024;
const JOINED_MS = 50;
/** Pieces that are kept at most. */
const MAX_PIECES = 8192;

interface Piece {
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** When it came: Unix time, milliseconds. */
  readonly at: number;
}

/** The newest output of a session, by byte offset. Pieces are referenced, not copied. */
export class KeptOutput {
  /** Bytes that are kept at most. */
  limit = KEPT_OUTPUT_BYTES;
  readonly #pieces: Piece[] = [];
  #bytes = 0;
  #end = 0;

  /** Offset behind the last byte that is known of. */
  get end(): number {
    return this.#end;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What is kept, with the time at which it came. */
  get timed(): readonly Piece[] {
    return this.#pieces;
  }

  /** The output reaches up to here, whether or not it is kept. */
  reach(end: number): void {
    this.#end = Math.max(this.#end, end);
  }

  /** Adds what lies behind the end; the rest is known. */
  append(offset: number, bytes: Uint8Array, at: number): void {
    const known = Math.max(0, this.#end - offset);
    if (known >= bytes.length) return;
    const piece = { offset: offset + known, bytes: known === 0 ? bytes : bytes.subarray(known), at };
    const last = this.#pieces.at(-1);
    const joins = last !== undefined && last.offset + last.bytes.length === piece.offset && at - last.at < JOINED_MS;
    if (joins && last.bytes.length + piece.bytes.length <= JOINED_BYTES) {
      this.#pieces[this.#pieces.length - 1] = { ...last, bytes: Buffer.concat([last.bytes, piece.bytes]) };
    } else this.#pieces.push(piece);
    this.#bytes += piece.bytes.length;
    this.#end = piece.offset + piece.bytes.length;
    while ((this.#bytes > this.limit || this.#pieces.length > MAX_PIECES) && this.#pieces.length > 1) {
      this.dropOldest();
    }
  }

  dropOldest(): void {
    this.#bytes -= this.#pieces.shift()?.bytes.length ?? 0;
  }

  /** What is kept from an offset on, without a gap, up to a limit; undefined when the byte there is not kept. */
  read(from: number, limit: number): readonly Uint8Array[] | undefined {
    const first = this.#find(from);
    if (first === undefined) return undefined;
    const parts: Uint8Array[] = [];
    let next = from;
    let size = 0;
    for (let at = first; at < this.#pieces.length && size < limit; at++) {
      const { offset, bytes } = this.#pieces[at]!;
      if (offset > next) break;
      const part = bytes.subarray(next - offset, next - offset + limit - size);
      parts.push(part);
      size += part.length;
      next += part.length;
    }
    return parts;
  }

  /** Offset of the first byte that is kept at or behind an offset; undefined when there is none. */
  nextKept(from: number): number | undefined {
    const piece = this.#pieces.find(({ offset, bytes }) => offset + bytes.length > from);
    return piece === undefined ? undefined : Math.max(from, piece.offset);
  }

  #find(from: number): number | undefined {
    let low = 0;
    let high = this.#pieces.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const { offset, bytes } = this.#pieces[middle]!;
      if (from < offset) high = middle - 1;
      else if (from >= offset + bytes.length) low = middle + 1;
      else return middle;
    }
    return undefined;
  }
}
