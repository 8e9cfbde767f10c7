import type { EventEmitter } from "node:events";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Bounds of connections to a listener that have not been admitted. */
export interface UnadmittedLimits {
  /** Connections at once; for one more, the one that has waited longest is closed. Default 128. */
  most?: number;
  /** Milliseconds for a connection to be admitted, TLS and the whole head of its request included. Default 10000. */
  deadlineMs?: number;
}

const MAX_UNADMITTED = 128;
const ADMIT_DEADLINE_MS = 10_000;

/** The connections of one server that have not been admitted. */
export interface Unadmitted {
  /** Called once a request on this connection was authorized: it is bounded no longer. */
  admit(wire: Duplex): void;
  /** Number of connections that have not been admitted. */
  readonly count: number;
}

/**
 * Bounds the connections of an HTTP server, or of one with TLS, that have not shown that they may connect: others keep the descriptors.
 * A response to a request without authorization, such as a health probe, gives its connection the time for another one.
 */
export function boundUnadmitted(server: EventEmitter, limits: UnadmittedLimits = {}): Unadmitted {
  const { most = MAX_UNADMITTED, deadlineMs = ADMIT_DEADLINE_MS } = limits;
  const waiting = new Map<string | Duplex, { wire: Socket; timer: NodeJS.Timeout }>();
  const forget = (key: string | Duplex) => {
    clearTimeout(waiting.get(key)?.timer);
    waiting.delete(key);
  };
  server.on("connection", (wire: Socket) => {
    const [oldest] = waiting;
    if (oldest !== undefined && waiting.size >= most) {
      const [key, entry] = oldest;
      forget(key);
      entry.wire.destroy();
    }
    const key = keyOf(wire);
    waiting.set(key, { wire, timer: setTimeout(() => wire.destroy(), deadlineMs).unref() });
    wire.once("close", () => {
      // A later connection may have the same key.
      if (waiting.get(key)?.wire === wire) forget(key);
    });
  });
  server.on("request", (_request: unknown, response: EventEmitter & { socket: Duplex | null }) => {
    const { socket } = response;
    if (socket !== null) response.once("finish", () => waiting.get(keyOf(socket))?.timer.refresh());
  });
  return {
    admit: (wire) => forget(keyOf(wire)),
    get count() {
      return waiting.size;
    },
  };
}

/** The stream of TLS and the one below it have the same peer; a unix socket has no peer, and no TLS. */
const keyOf = (wire: Duplex): string | Duplex =>
  wire instanceof Socket && wire.remotePort !== undefined ? `${wire.remoteAddress} ${wire.remotePort}` : wire;
