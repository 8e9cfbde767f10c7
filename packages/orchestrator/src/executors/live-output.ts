import type { ByteRange, ExecutorMessage, OutputStream } from "@codex/executor-protocol";

/** Output of a call while it runs. `offset` counts bytes over all streams of the session, `seq` its chunks from 1. */
export interface LiveOutput {
  stream: OutputStream;
  bytes: Buffer;
  offset: number;
  seq: number;
  /** The id under which the model knows the session. */
  sessionId: number;
  /** Bytes of the session before these that are gone: more was written than is retained. */
  dropped?: ByteRange;
}

export type ToolOutputMessage = Extract<ExecutorMessage, { type: "tool_output" }>;

/** What has been seen of one call's live output; its order is checked here. */
export class OutputTracker {
  processId: number | undefined;
  lastSeq = 0;
  #nextOffset = 0;

  /** The decoded bytes, or what is wrong with the message. A gap is legal (evicted output), going back is not. */
  accept(message: ToolOutputMessage): Buffer | string {
    if (this.processId !== undefined && message.processId !== this.processId) {
      return `processId ${message.processId} in the output of a call that belongs to ${this.processId}`;
    }
    if (message.seq <= this.lastSeq) return `seq ${message.seq} after ${this.lastSeq}`;
    if (message.offset < this.#nextOffset) return `offset ${message.offset} bytes, before ${this.#nextOffset} bytes`;
    if (!BASE64.test(message.chunk) || message.chunk.length % 4 !== 0) return "field `chunk`: expected base64";
    const bytes = Buffer.from(message.chunk, "base64");
    this.processId = message.processId;
    this.lastSeq = message.seq;
    this.#nextOffset = message.offset + bytes.length;
    return bytes;
  }
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
