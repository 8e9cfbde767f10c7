import { toError } from "@codex/values";
import { Fifo } from "../queue/fifo.js";
import { getPieceCost, MAX_PIECE_BYTES } from "./piece.js";

interface Outgoing {
  json: Buffer;
  /** Called when the bytes are no longer needed. */
  onWritten?: (() => void) | undefined;
}

interface PieceSenderOptions {
  /** Most unacknowledged data, in the units of `getPieceCost`. */
  window: number;
  send: (data: string, isLast: boolean) => Promise<void>;
  /** Called when fewer bytes are waiting. */
  onProgress: () => void;
  onFailed: (error: Error) => void;
}

/** Splits messages into pieces, and sends them one after the other within the window. */
export class PieceSender {
  readonly #options: PieceSenderOptions;
  readonly #pieceBytes: number;
  readonly #messages = new Fifo<Outgoing>();
  #waitingBytes = 0;
  #sent = 0;
  #taken = 0;
  #isPumping = false;
  #isEnded = false;
  /** Wakes the pump once there is room in the window. */
  #wake = () => {};
  #onIdle = () => {};

  constructor(options: PieceSenderOptions) {
    this.#options = options;
    this.#pieceBytes = Math.min(MAX_PIECE_BYTES, Math.floor(options.window / 4));
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  send(json: Buffer, onWritten?: () => void): void {
    this.#messages.push({ json, onWritten });
    this.#waitingBytes += json.length;
    if (!this.#isPumping) void this.#pump();
  }

  recordTaken(taken: number): void {
    // A peer cannot acknowledge more than was sent.
    this.#taken = Math.max(this.#taken, Math.min(taken, this.#sent));
    this.#wake();
  }

  /** Resolves when everything was sent, at the deadline, or at `end`. */
  async flush(deadlineMs: number): Promise<void> {
    if (!this.#isPumping) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      timer = setTimeout(resolve, deadlineMs);
    });
    clearTimeout(timer);
  }

  /** Drops waiting messages. */
  end(): void {
    this.#isEnded = true;
    this.#messages.clear();
    this.#waitingBytes = 0;
    this.#wake();
    this.#onIdle();
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    try {
      for (let next = this.#messages.shift(); next !== undefined; next = this.#messages.shift()) {
        await this.#sendMessage(next);
      }
    } catch (error) {
      if (!this.#isEnded) this.#options.onFailed(toError(error));
    } finally {
      this.#isPumping = false;
      this.#onIdle();
    }
  }

  async #sendMessage({ json, onWritten }: Outgoing): Promise<void> {
    for (let at = 0; at < json.length && !this.#isEnded; ) {
      const end = findCut(json, at + this.#pieceBytes);
      const data = json.toString("utf8", at, end);
      const cost = getPieceCost(data);
      while (this.#sent + cost - this.#taken > this.#options.window && !this.#isEnded) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (this.#isEnded) return;
      this.#sent += cost;
      this.#waitingBytes -= end - at;
      at = end;
      const isLast = at >= json.length;
      if (isLast) onWritten?.();
      const sent = this.#options.send(data, isLast);
      this.#options.onProgress();
      await sent;
    }
  }
}

/** The last boundary between two characters at or before `end`. */
function findCut(json: Buffer, end: number): number {
  if (end >= json.length) return json.length;
  let cut = end;
  while (isContinuation(json[cut]) && end - cut < LONGEST_CHARACTER_BYTES) cut -= 1;
  return cut;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Bytes of the longest character in UTF-8. */
const LONGEST_CHARACTER_BYTES = 4;
