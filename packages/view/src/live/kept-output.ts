import {
  KEPT_FLOOD_BYTES,
  KEPT_FLOOD_MS,
  KEPT_OUTPUT_BYTES,
  SAMPLED_OUTPUT_BYTES,
  VIEWED_OUTPUT_BYTES,
} from "../limits.js";

/** Small pieces within this time are merged into one, up to this size: bytes, milliseconds. */
const JOINED_BYTES = 4 * 1024;
const JOINED_MS = 50;
/** Maximum number of pieces. */
const MAX_PIECES = 8192;

interface Piece {
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Time of arrival: Unix time, milliseconds. */
  readonly at: number;
}

/** The newest output of a session, by byte offset. Pieces are referenced, not copied. */
export class KeptOutput {
  /** How pages read it: `all`, in order; `samples` of it, because it is too much; or no page does. */
  reading: "none" | "all" | "samples" = "none";
  readonly #pieces: Piece[] = [];
  #bytes = 0;
  #isFlood = false;
  #end = 0;

  /** Offset after the last known byte. */
  get end(): number {
    return this.#end;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The kept pieces with their times of arrival. */
  get timed(): readonly Piece[] {
    return this.#pieces;
  }

  /** Records that there is output up to this offset, kept or not. */
  reach(end: number): void {
    this.#end = Math.max(this.#end, end);
  }

  /** Adds the bytes after the end; earlier ones are known already. */
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
    while ((this.#bytes > this.#limit(at) || this.#pieces.length > MAX_PIECES) && this.#pieces.length > 1) {
      this.dropOldest();
    }
  }

  #limit(now: number): number {
    if (this.reading === "all") return VIEWED_OUTPUT_BYTES;
    if (this.reading === "samples") return SAMPLED_OUTPUT_BYTES;
    const isFast = now - (this.#pieces[0]?.at ?? now) < KEPT_FLOOD_MS;
    this.#isFlood = isFast && (this.#isFlood || this.#bytes > KEPT_OUTPUT_BYTES);
    return this.#isFlood ? KEPT_FLOOD_BYTES : KEPT_OUTPUT_BYTES;
  }

  dropOldest(): void {
    this.#bytes -= this.#pieces.shift()?.bytes.length ?? 0;
  }

  /** The kept bytes from an offset on, contiguous, up to a limit; undefined if the byte at the offset is not kept. */
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

  /** Offset of the first kept byte at or after an offset; undefined if there is none. */
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
