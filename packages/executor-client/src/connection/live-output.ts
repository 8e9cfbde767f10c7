import type { ByteRange, ExecutorMessage, OutputStream } from "@codex/executor-protocol";

/** Output of a call while it runs. `offset` counts bytes over all streams of the session, `seq` its chunks from 1. */
export interface LiveOutput {
  stream: OutputStream;
  /** Not to be changed: an executor in this process may hold the same memory. */
  bytes: Buffer;
  offset: number;
  seq: number;
  /** The id under which the model knows the session. */
  sessionId: number;
  /** Bytes of the session before these that are gone: more was written than is retained. */
  dropped?: ByteRange;
}

export type ToolOutputMessage = Extract<ExecutorMessage, { type: "tool_output" }>;

/** Live output as it came, in whatever form, decoded. */
export interface IncomingOutput extends Omit<ToolOutputMessage, "type" | "chunk"> {
  bytes: Buffer;
  /** It goes on with the message of the one before it, whose `seq` it has. */
  isContinued: boolean;
}

/** What a message holds, or what is wrong with it. */
export function decodeOutput({ type: _type, chunk, ...rest }: ToolOutputMessage): IncomingOutput | string {
  if (!BASE64.test(chunk) || chunk.length % 4 !== 0) return "field `chunk`: expected base64";
  return { ...rest, bytes: Buffer.from(chunk, "base64"), isContinued: false };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** What has been seen of one call's live output; its order is checked here. */
export class OutputTracker {
  processId: number | undefined;
  #lastSeq = 0;
  #nextOffset = 0;

  /** What is wrong with a piece; undefined when it is in order. A gap is legal (evicted output), going back is not. */
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
