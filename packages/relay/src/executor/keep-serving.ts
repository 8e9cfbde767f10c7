import { Backoff, type Clock, pause } from "@codex/clock";
import type { Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { HttpFailure } from "../http-failure.js";
import { FIRST_RETRY_MS, LONGEST_RETRY_MS, SHORTEST_SPREAD_MS } from "../limits.js";
import { SocketError } from "../socket/frame-socket.js";

/** How a socket ended. */
export interface EndedSocket {
  reason: string;
  /** Longest random pause before the next dial, milliseconds, by which the rendezvous spreads the dials of its executors. Default `FIRST_RETRY_MS`. */
  spreadMs: number | undefined;
}

/** What an executor repeats while it serves. */
export interface KeepServingOptions {
  /** Registers if necessary, dials, and serves one socket. Resolves when it has ended. */
  serveOnce(onConnected: () => void): Promise<EndedSocket>;
  /** Called when the rendezvous refuses a dial with 4xx: the registration is no longer valid. */
  onRefused(): void;
  clock: Clock;
  random: () => number;
  log?: Logger | undefined;
  signal: AbortSignal;
}

/** Serves one socket after another, with increasing random pauses between failures, until the signal aborts. Never rejects. */
export async function keepServing(options: KeepServingOptions): Promise<void> {
  const { serveOnce, onRefused, clock, random, log, signal } = options;
  const backoff = new Backoff({ firstMs: FIRST_RETRY_MS, longestMs: LONGEST_RETRY_MS, random });
  let spreadMs = 0;
  while (!signal.aborted) {
    let pauseMs: number;
    try {
      const ended = await serveOnce(() => backoff.reset());
      if (signal.aborted) return;
      log?.warn?.("the rendezvous is gone", { reason: ended.reason });
      spreadMs = Math.max(ended.spreadMs ?? FIRST_RETRY_MS, SHORTEST_SPREAD_MS);
      pauseMs = random() * spreadMs;
    } catch (error) {
      if (signal.aborted) return;
      pauseMs = backoff.next(error instanceof HttpFailure ? error.retryAfterMs : undefined);
      if (error instanceof SocketError && isClientError(error.status)) onRefused();
      // While all nodes are away, spread the dials over the same time as a return, as a node may come back at any time.
      else pauseMs = Math.max(pauseMs, random() * spreadMs);
      log?.warn?.("the rendezvous cannot be reached", { error: messageOf(error) });
    }
    await pause(clock, pauseMs, signal).catch(() => {});
  }
}

const isClientError = (status: number | undefined): boolean => status !== undefined && status >= 400 && status < 500;
