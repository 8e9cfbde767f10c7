import { MAX_HEADER_BYTES } from "./limits.js";

/** A message between a connection and a helper: a JSON header and a raw body. */
export interface Frame {
  header: unknown;
  body: Buffer;
}

/** Two lengths, 32 bits each: a body has at most 4 GiB. */
const LENGTHS_BYTES = 8;

/** The parts of a frame, in order; the body is not copied. */
export function encodeFrame(header: unknown, body: Uint8Array | undefined): Uint8Array[] {
  const text = Buffer.from(JSON.stringify(header));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(body?.length ?? 0, 4);
  return body === undefined || body.length === 0 ? [lengths, text] : [lengths, text, body];
}

/** Reassembles frames from chunks. Each body is copied once. */
export class FrameReader {
  readonly #maxBodyBytes: number;
  readonly #lengths = Buffer.alloc(LENGTHS_BYTES);
  /** The buffer being filled: the lengths, the header or the body. */
  #part = this.#lengths;
  #filled = 0;
  #header: Buffer | undefined;

  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** Yields the frames that these bytes complete. @throws Error for a frame over a limit or a header that is not JSON */
  *push(bytes: Buffer): Generator<Frame> {
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.copy(this.#part, this.#filled, at);
      at += taken;
      this.#filled += taken;
      while (this.#filled === this.#part.length) {
        const frame = this.#next();
        if (frame !== undefined) yield frame;
        // An empty header or body is complete without further bytes; the lengths of the next frame are not.
        if (this.#part === this.#lengths) break;
      }
    }
  }

  /** Called when the current part is full: starts the next one. */
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
