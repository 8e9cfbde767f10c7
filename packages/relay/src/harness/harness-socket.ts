import type { Clock } from "@codex/clock";
import { messageOf } from "@codex/values";
import { decodeFrame } from "../frames/decode.js";
import { encodeFrame } from "../frames/encode.js";
import type { FrameBody } from "../frames/frame.js";
import { RESET_REASON } from "../frames/reset-reason.js";
import { HANDSHAKE_TIMEOUT_MS, MAX_FRAME_BYTES, STREAM_PING_MS } from "../limits.js";
import type { NoiseSession } from "../noise/handshake.js";
import type { Resumption } from "../noise/resumption-secret.js";
import type { Meeting } from "../registry/registry.js";
import { FrameSocket } from "../socket/frame-socket.js";
import { SendTurns } from "../socket/send-turns.js";
import type { ControlMessage } from "../streams/control.js";
import { NoiseLink } from "../streams/noise-link.js";

/** The executor's response to the handshake was invalid or missing. */
export class StreamRefusedError extends Error {
  override readonly name = "StreamRefusedError";
}

/** A socket of a harness with its only stream, after the handshake. */
export interface HarnessSocket {
  readonly link: NoiseLink;
  /** For resuming its stream. */
  readonly resumption: Resumption;
  readonly turns: SendTurns;
  /** Starts delivering frames. */
  start(): void;
  /** Stops reading until `resume`. */
  setPaused(isPaused: boolean): void;
  /** Resets the stream, and closes the socket. */
  end(deadlineMs: number): void;
}

/** Options of a harness's socket. */
export interface HarnessSocketOptions {
  meeting: Meeting;
  streamId: string;
  /** This end of the handshake. */
  handshake: { start(payload: Uint8Array): Buffer; finish(message: Uint8Array): NoiseSession };
  clock: Clock;
  ca: string | Uint8Array | undefined;
  signal: AbortSignal | undefined;
  /** If it throws, the stream is lost. */
  onData(seq: number, payload: Uint8Array): void;
  onControl(message: ControlMessage): void;
  /** Called once, unless `end` was called. */
  onLost(reason: string): void;
}

/** Dials, and performs the handshake with the executor. @throws SocketError, StreamRefusedError, or the reason of the signal */
export async function openHarnessSocket(options: HarnessSocketOptions): Promise<HarnessSocket> {
  const { meeting, streamId, handshake, clock, ca, signal } = options;
  const socket = await FrameSocket.dial(meeting.url, {
    clock,
    maxMessageBytes: MAX_FRAME_BYTES,
    ca,
    getPingMs: () => STREAM_PING_MS,
    signal,
  });
  const send = (body: FrameBody) => socket.send(encodeFrame({ streamId, body }));
  const turns = new SendTurns(() => socket.waitingBytes);
  let link: NoiseLink | undefined;
  let isStarted = false;
  const early: FrameBody[] = [];
  let isOver = false;

  return new Promise((resolve, reject) => {
    const lose = (reason: string) => {
      if (isOver) return;
      isOver = true;
      cancel();
      signal?.removeEventListener("abort", onAbort);
      if (link === undefined) {
        void socket.close(0);
        reject(signal?.aborted === true ? signal.reason : new StreamRefusedError(reason));
      } else options.onLost(reason);
    };
    const onAbort = () => lose("it was cancelled");
    signal?.addEventListener("abort", onAbort, { once: true });
    const cancel = clock.after(HANDSHAKE_TIMEOUT_MS, () =>
      lose(`the executor did not respond to the handshake within ${HANDSHAKE_TIMEOUT_MS} ms`),
    );
    const settle = (session: NoiseSession) => {
      cancel();
      signal?.removeEventListener("abort", onAbort);
      link = new NoiseLink(session.keys, streamId, (frame) => socket.sendParts(frame));
      resolve({
        link,
        resumption: session.resumption,
        turns,
        start: () => {
          isStarted = true;
          for (const body of early.splice(0)) pass(body);
        },
        setPaused: (isPaused) => socket.setPaused(isPaused),
        end: (deadlineMs) => {
          isOver = true;
          send({ kind: "reset", reason: RESET_REASON });
          void socket.close(deadlineMs);
        },
      });
    };
    const pass = (body: FrameBody) => {
      if (isOver) return;
      try {
        if (body.kind === "data") options.onData(body.seq, body.payload);
        else if (body.kind === "ack") {
          const message = link?.acceptControl(body.counter, body.payload);
          if (message !== undefined) options.onControl(message);
        }
      } catch (error) {
        lose(messageOf(error));
      }
    };
    const receive = (body: FrameBody) => {
      if (body.kind === "reset") return lose("the stream was reset");
      if (body.kind === "handshake") {
        if (link !== undefined) return lose("a second handshake was received");
        try {
          settle(handshake.finish(body.payload));
        } catch {
          lose("the handshake failed: the response is not from the executor whose key the registry returned");
        }
      } else if (link === undefined) lose("data was received before the handshake");
      else if (isStarted) pass(body);
      else early.push(body);
    };
    socket.start({
      onMessage: (data, isBinary) => {
        if (isOver) return;
        if (!isBinary) return lose("the rendezvous sent a text message");
        const decoded = decodeFrame(data);
        if (!decoded.ok) lose(`the rendezvous sent an invalid frame: ${decoded.problem}`);
        else if (decoded.frame.streamId === streamId) receive(decoded.frame.body);
      },
      onWritten: () => turns.run(),
      onClosed: (reason) => lose(reason),
    });
    // The first frame of Codex, without meaning.
    send({ kind: "resume", nextSeq: 0 });
    send({ kind: "handshake", payload: handshake.start(Buffer.from(meeting.authorization)) });
  });
}
