import type { ByteRange, ExecutorMessage, OutputStream } from "@codex/executor-protocol";

/** Output of a call while it runs. `offset` counts bytes over all streams of the session, `seq` its chunks from 1. */
export interface LiveOutput {
  stream: OutputStream;
  /** Must not be modified: an in-process executor may share the memory. */
  bytes: Buffer;
  offset: number;
  seq: number;
  /** The session id shown to the model. */
  sessionId: number;
  /**
   * Missing bytes of the session before these, which may be none: more was written than is retained, or a peer lost it. Where its size
   * is not known it is estimated, which the result of the call marks as `estimated`.
   */
  dropped?: ByteRange;
}

export type ToolOutputMessage = Extract<ExecutorMessage, { type: "tool_output" }>;

/** Received live output, decoded. */
export interface IncomingOutput extends Omit<ToolOutputMessage, "type" | "chunk"> {
  bytes: Buffer;
  /** It continues the message of the previous piece and has the same `seq`. */
  isContinued: boolean;
}

/** The content of a message, or the problem with it. */
export function decodeOutput({ type: _type, chunk, ...rest }: ToolOutputMessage): IncomingOutput | string {
  if (!BASE64.test(chunk) || chunk.length % 4 !== 0) return "field `chunk`: expected base64";
  return { ...rest, bytes: Buffer.from(chunk, "base64"), isContinued: false };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Checks the order of one call's live output. */
export class OutputTracker {
  processId: number | undefined;
  #lastSeq = 0;
  #nextOffset = 0;

  /** The problem with a piece; undefined if it is in order. A gap is legal (evicted output), going back is not. */
  findProblem({ processId, seq, offset, bytes, isContinued }: IncomingOutput): string | undefined {
    if (this.processId !== undefined && processId !== this.processId) {
      return `processId ${processId} in the output of a call that belongs to ${this.processId}`;
    }
    if (isContinued ? seq < this.#lastSeq : seq <= this.#lastSeq) return `seq ${seq} after ${this.#lastSeq}`;
    if (offset < this.#nextOffset) return `offset ${offset} bytes, before ${this.#nextOffset} bytes`;
    this.processId = processId;
    this.#lastSeq = seq;
    this.#nextOffset = offset + bytes.length;
    return undefined;
  }
}
