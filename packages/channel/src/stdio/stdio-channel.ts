import type { Readable, Writable } from "node:stream";
import type { BinaryFrames, Channel, ChannelEnd, CloseOptions, Received } from "../channel.js";
import { decodeFrame, tooLarge } from "../codec/decode.js";
import { checkSize } from "../codec/encode.js";
import { ChannelError, errnoOf } from "../errors.js";
import { type ChannelLimits, DEFAULT_CLOSE_DEADLINE_MS, resolveLimits } from "../limits.js";
import { closedError, Ending } from "../queue/ending.js";
import { Inbox } from "../queue/inbox.js";
import { rejected, SendGate } from "../queue/send-gate.js";
import { enlargeReads } from "../reads/enlarge-reads.js";
import { LeadingText } from "./leading-text.js";
import { LineSplitter } from "./line-splitter.js";
import { LineWriter } from "./line-writer.js";

/** The two streams of a stdio channel, and its limits. */
export interface StdioStreams {
  /** Bytes, without an encoding. A socket, as the stdout of a child process, is read with up to 512 KiB at once from then on. */
  input: Readable;
  output: Writable;
  limits?: Partial<ChannelLimits>;
  /** Ignores text before the first message, which a program may print; its default, false, is right for a server. */
  skipsLeadingText?: boolean;
}

/**
 * A channel over two byte streams: one JSON value per line, UTF-8, LF or CRLF; blank lines are skipped. Binary frames are read
 * between lines once they are accepted; one over the limit ends the channel. Owns both streams and ends them in `close`, which
 * drops values that were not received. The end of `input` is the end of receiving only: later values are still sent.
 */
export function createStdioChannel(streams: StdioStreams): Channel {
  return new StdioChannel(streams, resolveLimits(streams.limits));
}

class StdioChannel implements Channel {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #limits: ChannelLimits;
  readonly #ending = new Ending();
  readonly #inbox = new Inbox(() => this.#take());
  readonly #splitter: LineSplitter;
  readonly #writer: LineWriter;
  readonly #gate: SendGate;
  readonly #leading: LeadingText | undefined;
  /** The first message was received. */
  #hasBegun: boolean;
  /** Binary frames are read, once the first message was received: a NUL in text before it begins none. */
  #acceptsFrames = false;
  #paused = false;
  /** Set once nothing can be sent any more. */
  #sendError: ChannelError | undefined;
  #closing: Promise<void> | undefined;
  readonly binary: BinaryFrames;

  constructor({ input, output, skipsLeadingText = false }: StdioStreams, limits: ChannelLimits) {
    this.#leading = skipsLeadingText ? new LeadingText(limits) : undefined;
    this.#hasBegun = !skipsLeadingText;
    this.#input = input;
    enlargeReads(input);
    this.#output = output;
    this.#limits = limits;
    this.#splitter = new LineSplitter(limits.maxMessageBytes);
    this.#writer = new LineWriter(output, limits, () => this.#gate.release());
    this.binary = {
      accept: () => {
        this.#acceptsFrames = true;
        if (this.#hasBegun) this.#splitter.acceptFrames();
      },
      send: (head, body, onWritten) => this.#deliver(() => this.#writer.writeFrame(head, body, onWritten)),
      reportsWritten: this.#writer.reportsWritten,
    };
    this.#gate = new SendGate({
      isFull: () => this.#writer.backlog >= limits.highWaterBytes,
      hasRoom: () => this.#writer.backlog <= limits.highWaterBytes / 2,
    });
    this.#listen();
  }

  get leadingTextBytes(): number {
    return this.#leading?.bytes ?? 0;
  }

  get closed(): Promise<ChannelEnd> {
    return this.#ending.closed;
  }

  send(value: unknown): Promise<void> {
    return this.#deliver(() => this.#writer.writeValue(value));
  }

  sendEncoded(json: Uint8Array, onWritten?: () => void): Promise<void> {
    return this.#deliver(() => {
      checkSize(json.length, this.#limits);
      checkOneLine(json);
      this.#writer.writeEncoded(json, onWritten);
    });
  }

  receive(): Promise<Received | undefined> {
    return this.#inbox.receive();
  }

  close(options: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close(options.deadlineMs ?? DEFAULT_CLOSE_DEADLINE_MS);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #deliver(write: () => void): Promise<void> {
    if (this.#sendError !== undefined) return rejected(this.#sendError);
    try {
      write();
    } catch (error) {
      return rejected(error);
    }
    return this.#gate.pass();
  }

  #listen(): void {
    this.#input.on("data", this.#onData);
    this.#input.once("end", () => this.#endInput({ kind: "peer_closed" }));
    this.#input.once("close", () => this.#endInput({ kind: "peer_closed", detail: "input was closed" }));
    this.#input.on("error", (error) => this.#endInput(failure("reading", error)));
    this.#output.once("close", () => this.#endOutput({ kind: "peer_closed", detail: "output was closed" }));
    this.#output.on("error", (error) => this.#endOutput(failure("writing", error)));
    if (this.#input.destroyed || this.#input.readableEnded) this.#endInput({ kind: "peer_closed" });
    if (this.#output.destroyed || this.#output.writableEnded) this.#endOutput({ kind: "peer_closed" });
  }

  readonly #onData = (chunk: Buffer): void => {
    // After close the input is only drained, so that a peer that is blocked writing can read the last values.
    if (this.#closing !== undefined) return;
    this.#splitter.push(chunk);
    this.#inbox.wake();
    const { maxWaitingBytes, maxWaitingMessages } = this.#limits;
    if (this.#splitter.waitingBytes >= maxWaitingBytes || this.#splitter.waitingChunks >= maxWaitingMessages) {
      this.#paused = true;
      this.#input.pause();
    }
  };

  #take(): Received | undefined {
    for (;;) {
      const next = this.#splitter.next();
      if (this.#paused) this.#resumeWithRoom();
      if (next === undefined) return undefined;
      if (!this.#hasBegun && (Buffer.isBuffer(next) || next === "too_long")) {
        const first = this.#leading?.take(next);
        if (first === undefined) continue;
        this.#hasBegun = true;
        if (this.#acceptsFrames) this.#splitter.acceptFrames();
        if (first.kind === "malformed") this.#failReading(first.problem);
        return first;
      }
      if (Buffer.isBuffer(next)) return decodeFrame(next, this.#limits);
      if (next === "too_long") return tooLarge(this.#limits);
      if (next.kind === "bytes") return next;
      this.#failReading(next.problem);
      return { kind: "malformed", problem: next.problem };
    }
  }

  /** Frame boundaries are lost: nothing more can be read. */
  #failReading(problem: string): void {
    const error = new ChannelError("connection_lost", `reading the channel failed: ${problem}`);
    this.#ending.settle({ kind: "failed", error });
    queueMicrotask(() => this.#endInput({ kind: "failed", error }));
  }

  #resumeWithRoom(): void {
    const { maxWaitingBytes, maxWaitingMessages } = this.#limits;
    if (this.#splitter.waitingBytes > maxWaitingBytes / 2) return;
    if (this.#splitter.waitingChunks > maxWaitingMessages / 2) return;
    this.#paused = false;
    this.#input.resume();
  }

  #endInput(end: ChannelEnd): void {
    this.#ending.settle(end);
    this.#splitter.end();
    this.#inbox.end();
  }

  #endOutput(end: ChannelEnd): void {
    this.#ending.settle(end);
    this.#sendError ??= closedError(end);
    this.#gate.fail(this.#sendError);
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#ending.settle({ kind: "closed" });
    this.#sendError ??= closedError(this.#ending.end);
    this.#splitter.clear();
    this.#inbox.end();
    this.#input.resume();
    this.#writer.flush();
    await endStream(this.#output, deadlineMs);
    this.#gate.fail(this.#sendError);
    this.#input.off("data", this.#onData);
    this.#input.destroy();
    // A fully written stream ends on its own; destroying an in-process pipe would drop data that its reader has not read.
    if (!this.#output.writableFinished) this.#output.destroy();
  }
}

function checkOneLine(json: Uint8Array): void {
  if (!json.includes(LINE_FEED)) return;
  throw new ChannelError("unserializable", "encoded message was not sent: it contains a line feed, which ends a line");
}

const LINE_FEED = 0x0a;

/** Ends a stream and waits until everything is written, it has failed, or the deadline. */
function endStream(output: Writable, deadlineMs: number): Promise<void> {
  if (output.destroyed || output.writableFinished) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, deadlineMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    output.once("finish", done);
    output.once("close", done);
    output.once("error", done);
    output.end();
  });
}

function failure(doing: string, error: Error): ChannelEnd {
  // Writing to a peer that has ended fails with EPIPE if the write comes before its end is read.
  if (errnoOf(error) === "EPIPE") return { kind: "peer_closed", detail: "the peer no longer reads (EPIPE)" };
  const lost = new ChannelError("connection_lost", `${doing} the channel failed: ${error.message}`, { cause: error });
  return { kind: "failed", error: lost };
}
