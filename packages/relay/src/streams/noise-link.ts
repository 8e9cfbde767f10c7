import type { FrameBody } from "../frames/frame.js";
import { MAX_CONTROL_BYTES } from "../limits.js";
import { open, seal, TAG_BYTES } from "../noise/aead.js";
import type { SessionKeys } from "../noise/handshake.js";
import { RecordOpener } from "../records/record-opener.js";
import { type ControlMessage, encodeControl, parseControl } from "./control.js";

/** Largest number of a record or control message. */
const LAST_NUMBER = 0xffff_ffff;

/** A Noise session on one socket: encrypts and decrypts the records of a stream. */
export class NoiseLink {
  readonly #keys: SessionKeys;
  readonly #send: (body: FrameBody) => void;
  readonly #opener: RecordOpener;
  #nextSeq = 0;
  #nextControl = 0;
  #lastControl = -1;

  /** @param send sends a frame of this stream over the socket */
  constructor(keys: SessionKeys, send: (body: FrameBody) => void) {
    this.#keys = keys;
    this.#send = send;
    this.#opener = new RecordOpener(keys.received);
  }

  /** Number of the next record to send. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Whether the record numbers are used up. */
  get isExhausted(): boolean {
    return this.#nextSeq > LAST_NUMBER;
  }

  /** Number of the next expected record, and of those that arrived early. */
  get order() {
    return this.#opener.order;
  }

  /** Sends a record, and returns its number. */
  sendRecord(plaintext: Uint8Array): number {
    const seq = this.#nextSeq++;
    this.resend(seq, plaintext);
    return seq;
  }

  /** Resends a record: the same number always has the same bytes. */
  resend(seq: number, plaintext: Uint8Array): void {
    this.#send({ kind: "data", seq, payload: seal(this.#keys.sent, seq, plaintext) });
  }

  sendControl(message: ControlMessage): void {
    if (this.#nextControl > LAST_NUMBER) return;
    const counter = this.#nextControl++;
    this.#send({ kind: "ack", counter, payload: seal(this.#keys.sentControl, counter, encodeControl(message)) });
  }

  sendReset(reason: string): void {
    this.#send({ kind: "reset", reason });
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
