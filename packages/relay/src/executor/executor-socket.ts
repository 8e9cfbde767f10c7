import type { Clock } from "@codex/clock";
import type { Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { decodeFrame } from "../frames/decode.js";
import { encodeFrame } from "../frames/encode.js";
import type { FrameBody } from "../frames/frame.js";
import { RESET_REASON } from "../frames/reset-reason.js";
import { MAX_AUTHORIZATION_BYTES, MAX_STREAMS, MAX_VALIDATIONS } from "../limits.js";
import { ResponderHandshake, SHORTEST_HANDSHAKE_BYTES } from "../noise/handshake.js";
import { fingerprintOf, type NoiseIdentity, type NoisePublicKey } from "../noise/keys.js";
import type { MlKem } from "../noise/ml-kem.js";
import { ResumptionResponder } from "../noise/resumption.js";
import type { FrameSocket } from "../socket/frame-socket.js";
import { SendTurns } from "../socket/send-turns.js";
import { NoiseLink } from "../streams/noise-link.js";
import type { RelayedStream } from "../streams/relayed-stream.js";
import type { HandshakeGate } from "./handshake-gate.js";
import type { StreamPeer, StreamTable } from "./stream-table.js";

/** What a harness presents to an executor, for validation by the registry. */
interface Admission {
  streamId: string;
  harness: NoisePublicKey;
  authorization: string;
}

/** Collaborators of the streams on a socket. */
export interface ExecutorSocketOptions {
  environmentId: string;
  registrationId: string;
  identity: NoiseIdentity;
  mlKem: MlKem;
  clock: Clock;
  table: StreamTable;
  gate: HandshakeGate;
  /** Asks the registry whether to admit the harness; a rejected promise means no. */
  validate(admission: Admission, signal: AbortSignal): Promise<boolean>;
  /** Whether a stream is announced after its handshake instead of at its first message. */
  isEager: boolean;
  log?: Logger | undefined;
}

type Entry =
  | { kind: "validating" }
  | { kind: "live"; link: NoiseLink; harness: string; peer: StreamPeer; stream: RelayedStream | undefined };

/** All Noise streams on one socket of an executor. */
export class ExecutorSocket {
  readonly #socket: FrameSocket;
  readonly #options: ExecutorSocketOptions;
  readonly #turns: SendTurns;
  readonly #entries = new Map<string, Entry>();
  readonly #abort = new AbortController();
  #validations = 0;

  constructor(socket: FrameSocket, options: ExecutorSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#turns = new SendTurns(() => socket.waitingBytes);
  }

  /** Serves the socket. Resolves with the reason when it has ended; never rejects. */
  serve(): Promise<string> {
    return new Promise((resolve) => {
      this.#socket.start({
        onMessage: (data, isBinary) => this.#receive(data, isBinary),
        onWritten: () => this.#turns.run(),
        onClosed: (reason) => {
          this.#end(reason);
          resolve(reason);
        },
      });
    });
  }

  #end(reason: string): void {
    this.#abort.abort();
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) {
      if (entry.kind === "live" && entry.stream !== undefined) this.#options.table.leave(entry.stream, reason);
    }
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { log } = this.#options;
    if (!isBinary) return log?.debug?.("a text message from the rendezvous was dropped");
    const decoded = decodeFrame(data);
    if (!decoded.ok) return log?.debug?.("a frame from the rendezvous was dropped", { problem: decoded.problem });
    const { streamId, body } = decoded.frame;
    switch (body.kind) {
      case "handshake":
        return this.#receiveHandshake(streamId, body.payload);
      case "data":
        return this.#receiveData(streamId, body.seq, body.payload);
      case "ack":
        return this.#receiveControl(streamId, body.counter, body.payload);
      case "reset":
        return this.#receiveReset(streamId);
      case "resume":
      case "heartbeat":
        return;
    }
  }

  #receiveHandshake(streamId: string, message: Uint8Array): void {
    const { gate, log } = this.#options;
    if (this.#entries.has(streamId)) return this.#reset(streamId);
    if (!gate.isOpen || this.#entries.size >= MAX_STREAMS || this.#validations >= MAX_VALIDATIONS) {
      log?.debug?.("a handshake was refused", {
        streamId,
        streams: this.#entries.size,
        validations: this.#validations,
      });
      return this.#reset(streamId);
    }
    const resumed = this.#options.table.findPeer(message);
    // The stream that it resumes is gone: the harness tries again with a complete handshake.
    if (resumed === undefined && message.length < SHORTEST_HANDSHAKE_BYTES) return this.#reset(streamId);
    const entry: Entry = { kind: "validating" };
    this.#entries.set(streamId, entry);
    this.#validations += 1;
    void this.#admit(streamId, entry, message, resumed).finally(() => {
      this.#validations -= 1;
    });
  }

  async #admit(streamId: string, entry: Entry, message: Uint8Array, resumed?: StreamPeer): Promise<void> {
    const { environmentId, registrationId, identity, mlKem, gate, log, validate } = this.#options;
    const context = { environmentId, registrationId, streamId };
    try {
      const handshake =
        resumed === undefined
          ? new ResponderHandshake({ context, identity, mlKem })
          : new ResumptionResponder({ context, resumption: resumed.resumption, initiator: resumed.key });
      const { initiator, payload } = handshake.receive(message);
      const authorization = decodeAuthorization(payload);
      if (!(await validate({ streamId, harness: initiator, authorization }, this.#abort.signal))) {
        throw new Error("the registry does not admit this harness");
      }
      // The stream was reset or the socket terminated during validation.
      if (this.#entries.get(streamId) !== entry) return;
      const { message: answer, session } = handshake.respond();
      gate.noteSuccess();
      this.#send(streamId, { kind: "handshake", payload: answer });
      const link = new NoiseLink(session.keys, streamId, (frame) => this.#socket.sendParts(frame));
      const peer = { key: initiator, resumption: session.resumption };
      const live: Entry = { kind: "live", link, harness: fingerprintOf(initiator), peer, stream: undefined };
      this.#entries.set(streamId, live);
      log?.info?.("a harness was admitted", { streamId, harness: live.harness });
      // A resumed stream is there already.
      if (this.#options.isEager && resumed === undefined) this.#open(streamId, live);
    } catch (error) {
      if (this.#abort.signal.aborted || this.#entries.get(streamId) !== entry) return;
      gate.noteFailure();
      log?.warn?.("a handshake failed", { streamId, error: messageOf(error) });
      this.#entries.delete(streamId);
      this.#reset(streamId);
    }
  }

  #open(streamId: string, entry: Extract<Entry, { kind: "live" }>): RelayedStream {
    const info = { streamId, harness: entry.harness };
    const stream = this.#options.table.create(info, entry.peer, this.#placeOf(streamId, entry));
    entry.stream = stream;
    stream.attach(entry.link, this.#turns);
    return stream;
  }

  #placeOf(streamId: string, entry: Entry) {
    return {
      reset: () => {
        if (this.#entries.get(streamId) !== entry) return;
        this.#entries.delete(streamId);
        this.#reset(streamId);
      },
    };
  }

  #receiveData(streamId: string, seq: number, payload: Uint8Array): void {
    const entry = this.#entries.get(streamId);
    if (entry?.kind !== "live") {
      this.#entries.delete(streamId);
      return this.#reset(streamId);
    }
    const stream = entry.stream ?? this.#open(streamId, entry);
    try {
      stream.receiveData(seq, payload);
    } catch (error) {
      this.#options.log?.warn?.("a stream was reset", { streamId, error: messageOf(error) });
      this.#entries.delete(streamId);
      this.#reset(streamId);
      this.#options.table.leave(stream, messageOf(error));
    }
  }

  #receiveControl(streamId: string, counter: number, payload: Uint8Array): void {
    const entry = this.#entries.get(streamId);
    if (entry?.kind !== "live") return;
    const message = entry.link.acceptControl(counter, payload);
    if (message === undefined) return;
    const { stream: present } = entry;
    if (present !== undefined && (message.type !== "resume" || !present.isUnused))
      return present.receiveControl(message);
    if (message.type !== "resume") return;
    // It was announced at the handshake, before the harness asked to resume another stream.
    if (present !== undefined) this.#options.table.discard(present);
    entry.stream = undefined;
    const stream = this.#options.table.move(message.session, entry.harness, this.#placeOf(streamId, entry));
    if (stream === undefined) return entry.link.sendControl({ type: "gone", session: message.session });
    entry.stream = stream;
    stream.accept(entry.link, this.#turns, message);
  }

  #receiveReset(streamId: string): void {
    const entry = this.#entries.get(streamId);
    this.#entries.delete(streamId);
    if (entry?.kind !== "live" || entry.stream === undefined) return;
    if (entry.stream.isResumable) this.#options.table.leave(entry.stream, "the stream was reset");
    else entry.stream.endByPeer("the stream was reset");
  }

  #reset(streamId: string): void {
    this.#send(streamId, { kind: "reset", reason: RESET_REASON });
  }

  #send(streamId: string, body: FrameBody): void {
    this.#socket.send(encodeFrame({ streamId, body }));
  }
}

function decodeAuthorization(payload: Uint8Array): string {
  if (payload.length > MAX_AUTHORIZATION_BYTES) {
    throw new Error(`an authorization of ${payload.length} bytes is over the limit of ${MAX_AUTHORIZATION_BYTES}`);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(payload);
}
