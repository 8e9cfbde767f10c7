import { StreamFrames } from "../frames/stream-frames.js";
import { MAX_CONTROL_BYTES } from "../limits.js";
import { open, sealParts, TAG_BYTES } from "../noise/aead.js";
import type { SessionKeys } from "../noise/handshake.js";
import { RecordOpener } from "../records/record-opener.js";
import { type ControlMessage, encodeControl, parseControl } from "./control.js";

/** Plaintext of a record, in parts. */
export interface RecordBytes {
  parts: readonly Buffer[];
  /** Total length of the parts, bytes. */
  length: number;
}

/** Largest number of a record or control message. */
const LAST_NUMBER = 0xffff_ffff;

/** A Noise session on one socket: encrypts and decrypts the records of a stream. */
export class NoiseLink {
  readonly #keys: SessionKeys;
  readonly #frames: StreamFrames;
  readonly #send: (frame: Buffer[]) => void;
  readonly #opener: RecordOpener;
  #nextSeq = 0;
  #nextControl = 0;
  #lastControl = -1;

  /** @param send sends a frame over the socket, given in parts that belong to the socket from then on */
  constructor(keys: SessionKeys, streamId: string, send: (frame: Buffer[]) => void) {
    this.#keys = keys;
    this.#frames = new StreamFrames(streamId);
    this.#send = send;
    this.#opener = new RecordOpener(keys.received);
  }

  /** Number of the next record to send. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Whether all record numbers are used. */
  get isExhausted(): boolean {
    return this.#nextSeq > LAST_NUMBER;
  }

  /** Numbers of the next expected record, and of those that arrived early. */
  get order() {
    return this.#opener.order;
  }

  /** Sends a record of at least one byte, and returns its number. */
  sendRecord(record: RecordBytes): number {
    const seq = this.#nextSeq++;
    this.resend(seq, record);
    return seq;
  }

  /** Resends a record: the same number always has the same bytes. */
  resend(seq: number, { parts, length }: RecordBytes): void {
    const sealed = sealParts(this.#keys.sent, seq, parts);
    this.#send([this.#frames.startData(seq, length + TAG_BYTES), ...sealed]);
  }

  sendControl(message: ControlMessage): void {
    if (this.#nextControl > LAST_NUMBER) return;
    const counter = this.#nextControl++;
    const plaintext = encodeControl(message);
    const sealed = sealParts(this.#keys.sentControl, counter, [plaintext]);
    this.#send([this.#frames.startAck(counter, plaintext.length + TAG_BYTES), ...sealed]);
  }

  /** Returns the bytes that are now in order. @throws StreamViolation */
  acceptData(seq: number, payload: Uint8Array): Generator<Buffer> {
    return this.#opener.accept(seq, payload);
  }

  /** Decrypts a control message; undefined for an outdated or forged one, which is ignored. */
  acceptControl(counter: number, payload: Uint8Array): ControlMessage | undefined {
    if (counter <= this.#lastControl || payload.length > MAX_CONTROL_BYTES + TAG_BYTES) return undefined;
    try {
      const message = parseControl(open(this.#keys.receivedControl, counter, payload));
      this.#lastControl = counter;
      return message;
    } catch {
      return undefined;
    }
  }
}
