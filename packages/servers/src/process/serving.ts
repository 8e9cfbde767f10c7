import type { Logger } from "@codex/telemetry";
import { onHangup, onStopSignal } from "./host-process.js";
import { openServiceManager } from "./service-manager.js";
import { shieldListener } from "./shield-listener.js";

/** When a listener drains. */
export interface DrainArguments {
  /** Seconds that what runs has to end by itself after a signal to stop. Default 0. */
  drain?: number;
}

/** A listener from its start to its end, as signals and the service manager want it. */
export interface Serving {
  /** Milliseconds that what runs has to end by itself. */
  readonly drainMs: number;
  /** Resolves at SIGTERM, SIGINT or `stop`: the listener is to drain. */
  readonly stopped: Promise<void>;
  /** Prints the bound address to stdout, and tells that this process serves there. */
  announce(url: string): void;
  /** Tells the service manager alone that this process serves. @param status one line for people */
  ready(status: string): void;
  stop(): void;
  /** Removes the handlers of signals. */
  close(): void;
}

/** Longest that ending takes once what runs was asked to end, milliseconds; the service manager kills this process after that. */
const ENDING_MS = 15_000;

/**
 * Handles the signals of a listener: SIGTERM and SIGINT stop it; SIGHUP lets it look at its files at once, and stops it where a terminal
 * is gone. To be opened before the address is printed, since a signal may follow immediately.
 * @param checks look at the files, which are looked at when they are used otherwise
 */
export function openServing(
  log: Pick<Logger, "info" | "warn">,
  { drain = 0 }: DrainArguments,
  checks: readonly ((() => unknown) | undefined)[],
): Serving {
  const drainMs = Math.ceil(drain * 1000);
  const manager = openServiceManager(log);
  let resolve = () => {};
  const stopped = new Promise<void>((done) => {
    resolve = done;
  });
  const stop = () => {
    log.info?.("stopping");
    manager.stopping(drainMs + ENDING_MS);
    resolve();
  };
  const offStop = onStopSignal(stop, { atHangup: process.stdin.isTTY === true });
  const offHangup = onHangup(log, checks, (work) => manager.reload(work));
  return {
    drainMs,
    stopped,
    stop,
    announce(url) {
      process.stdout.write(`${url}\n`);
      shieldListener();
      log.info?.("listening", { url });
      manager.ready(`serving ${url}`);
    },
    ready: (status) => manager.ready(status),
    close() {
      offStop();
      offHangup();
      manager.close();
    },
  };
}
