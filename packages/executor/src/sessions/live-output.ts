import type { OutputChunk, OutputLog } from "@codex/exec-server";
import type { OutputStream } from "@codex/executor-protocol";
import { MAX_DELTA_BYTES } from "../limits.js";
import { getIncompleteTail } from "../utf8.js";

/** One piece of live output. `offset` is that of its first byte in the session's log, `seq` counts pieces from 1. */
export interface OutputDelta {
  requestId: string;
  processId: number;
  seq: number;
  offset: number;
  stream: OutputStream;
  bytes: Buffer;
}

/** Rejects when nothing can be delivered any more; until then it resolves when there is room for the next one. */
export type SendDelta = (delta: OutputDelta) => Promise<void>;

/** A reason of our own: making the default one, with its stack, would cost more than the wait it ends. */
const ENOUGH = "enough";

export type Piece = Pick<OutputChunk, "stream" | "offset" | "bytes">;

/**
 * Live output of one session: whatever call waits, each byte is sent once, from byte 0 on. While a call waits, a slow
 * receiver holds the process back; what comes between two calls is sent by the next.
 */
export class LiveOutput {
  readonly #log: OutputLog;
  readonly #processId: number;
  readonly #send: SendDelta;
  #offset = 0;
  #seq = 0;

  constructor(log: OutputLog, processId: number, send: SendDelta) {
    this.#log = log;
    this.#processId = processId;
    this.#send = send;
  }

  /** Follows for one call, until `finish` or `stop`. Calls of one session follow one after the other. */
  follow(requestId: string): LiveFollower {
    const stopping = new AbortController();
    const progress: Progress = { limit: Number.POSITIVE_INFINITY, held: undefined };
    const ended = this.#pump(requestId, progress, stopping.signal).catch(() => {}); // the receiver is gone
    return {
      finish: (to) => {
        progress.limit = to;
        if (this.#isDone(progress)) stopping.abort(ENOUGH);
        return ended;
      },
      stop: () => {
        progress.limit = 0;
        stopping.abort(ENOUGH);
        return ended;
      },
    };
  }

  async #pump(requestId: string, progress: Progress, signal: AbortSignal): Promise<void> {
    const send = async (piece: Piece) => {
      for (const part of splitPiece(piece, progress)) {
        this.#seq += 1;
        await this.#send({ requestId, processId: this.#processId, seq: this.#seq, ...part });
        this.#offset = part.offset + part.bytes.length;
      }
    };
    for await (const chunk of this.#log.follow({ from: this.#offset, signal })) {
      const { held } = progress;
      const piece = joinPieces(held, chunk);
      progress.held = undefined;
      if (held !== undefined && piece === chunk) await send(held);
      const whole = piece.bytes.length - getIncompleteTail(piece.bytes);
      await send({ ...piece, bytes: piece.bytes.subarray(0, whole) });
      if (whole < piece.bytes.length) {
        progress.held = { ...piece, offset: piece.offset + whole, bytes: piece.bytes.subarray(whole) };
      }
      if (this.#isDone(progress)) break;
    }
    const { held } = progress;
    if (held !== undefined && held.offset + held.bytes.length <= progress.limit) await send(held);
  }

  #isDone({ limit, held }: Progress): boolean {
    return (held === undefined ? this.#offset : held.offset + held.bytes.length) >= limit;
  }
}

interface Progress {
  /** Nothing at or after this offset is sent. */
  limit: number;
  /** The beginning of a character whose rest is still to come. */
  held: Piece | undefined;
}

export interface LiveFollower {
  /** Resolves when everything up to this offset was sent, or nothing can be sent any more. Sends nothing beyond it. */
  finish(to: number): Promise<void>;
  /** Sends nothing further; what was not sent is left to the next call. */
  stop(): Promise<void>;
}

/** The chunk with what was held of its stream in front; the chunk itself when that does not belong together. */
function joinPieces(held: Piece | undefined, chunk: OutputChunk): Piece {
  if (held === undefined || held.stream !== chunk.stream || held.offset + held.bytes.length !== chunk.offset) {
    return chunk;
  }
  return { stream: held.stream, offset: held.offset, bytes: Buffer.concat([held.bytes, chunk.bytes]) };
}

/** Parts of bounded size, cut between characters where there is a place; ends at the limit, which may move meanwhile. */
export function* splitPiece({ stream, offset, bytes }: Piece, progress: { limit: number }): Generator<Piece> {
  for (let at = 0; at < bytes.length && offset + at < progress.limit; ) {
    const most = bytes.subarray(at, at + MAX_DELTA_BYTES);
    const isLast = at + most.length === bytes.length;
    const whole = isLast ? most.length : most.length - getIncompleteTail(most);
    yield { stream, offset: offset + at, bytes: most.subarray(0, whole) };
    at += whole;
  }
}
