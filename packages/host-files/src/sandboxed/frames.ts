import { MAX_HEADER_BYTES } from "./limits.js";

/** A message between a connection and a helper: JSON, and bytes that are not worth turning into text. */
export interface Frame {
  header: unknown;
  body: Buffer;
}

/** Two lengths, 32 bits each: a body has at most 4 GiB. */
const LENGTHS_BYTES = 8;

/** The pieces of a frame, in order; the body is not copied. */
export function encodeFrame(header: unknown, body: Uint8Array | undefined): Uint8Array[] {
  const text = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(body?.length ?? 0, 4);
  return body === undefined || body.length === 0 ? [lengths, text] : [lengths, text, body];
}

/** Puts frames together. A body is copied once, from what was read to where it stays. */
export class FrameReader {
  readonly #maxBodyBytes: number;
  readonly #lengths = Buffer.alloc(LENGTHS_BYTES);
  /** What is being filled: the lengths, the header, the body. */
  #part = this.#lengths;
  #filled = 0;
  #header: Buffer | undefined;

  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** The frames that are complete with these bytes. @throws Error for what no frame can be */
  *push(bytes: Buffer): Generator<Frame> {
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.copy(this.#part, this.#filled, at);
      at += taken;
      this.#filled += taken;
      while (this.#filled === this.#part.length) {
        const frame = this.#next();
        if (frame !== undefined) yield frame;
        // The lengths of the next frame are filled by more bytes, an empty part by none.
        if (this.#part === this.#lengths) break;
      }
    }
  }

  /** The part is full: goes on to the next one. */
  #next(): Frame | undefined {
    this.#filled = 0;
    if (this.#part === this.#lengths) {
      const [header, body] = [this.#lengths.readUInt32LE(0), this.#lengths.readUInt32LE(4)];
      if (header > MAX_HEADER_BYTES || body > this.#maxBodyBytes) {
        throw new Error(
          `a frame has ${header} and ${body} bytes; the limits are ${MAX_HEADER_BYTES} and ${this.#maxBodyBytes}`,
        );
      }
      this.#part = Buffer.allocUnsafeSlow(header);
      return undefined;
    }
    if (this.#header === undefined) {
      this.#header = this.#part;
      this.#part = Buffer.allocUnsafeSlow(this.#lengths.readUInt32LE(4));
      return undefined;
    }
    const frame = { header: JSON.parse(this.#header.toString()) as unknown, body: this.#part };
    this.#header = undefined;
    this.#part = this.#lengths;
    return frame;
  }
}
