import { closeSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { createPeerReader, findConfinement } from "@codex/native";
import type { Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { type Listener, listenInBackground } from "../background/listener.js";
import { READY, READY_FD } from "../background/start-server.js";
import { onStopSignal } from "./host-process.js";
import type { TelemetryArguments } from "./open-telemetry.js";

/** Options of a server in the background. */
export interface BackgroundArguments {
  /** Path of its socket; undefined for a server in the foreground. Given by `--attach`. */
  serveSocket?: string;
  /** Seconds. */
  idleTimeout?: number;
}

/** Bytes at which its log becomes `<log>.1`: runtime directories are in memory. */
const MAX_LOG_BYTES = 1024 * 1024;

/** Seconds for which processes survive a lost connection to their client: longer than most network outages. */
const BACKGROUND_GRACE_S = 600;

/** The grace of a server, in milliseconds: the given seconds, else the default for foreground or background. */
export function readGraceMs<Default extends number | undefined>(
  { resumeGrace, serveSocket }: BackgroundArguments & { resumeGrace?: number },
  foregroundSeconds: Default,
): number | Default {
  const seconds = resumeGrace ?? (serveSocket === undefined ? foregroundSeconds : BACKGROUND_GRACE_S);
  return seconds === undefined ? foregroundSeconds : Math.ceil(seconds * 1000);
}

/** A server in the background logs to a file next to its socket, unless configured otherwise. */
export const withBackgroundLog = <Options extends TelemetryArguments & BackgroundArguments>(
  options: Options,
): Options =>
  options.serveSocket === undefined || options.logFile !== undefined
    ? options
    : { ...options, logFile: getPlace(options.serveSocket).log, maxLogBytes: MAX_LOG_BYTES };

const getPlace = (path: string) => {
  const stem = path.replace(/\.sock$/, "");
  return { path, lock: `${stem}.lock`, log: `${stem}.log` };
};

/** What runs in the background. */
export interface BackgroundServer {
  countSessions: () => number;
  /** Resolves when the client has gone; never rejects. */
  serve: (socket: Socket) => Promise<void>;
  close: () => Promise<void>;
}

/** Serves clients that connect to the socket until a signal, a request to stop, or the idle timeout; then closes the server. */
export async function serveInBackground(
  path: string,
  { idleTimeout }: BackgroundArguments,
  { log }: { log: Logger },
  { close, ...server }: BackgroundServer,
): Promise<void> {
  const signaled = new Promise<void>((resolve) => void onStopSignal(resolve));
  const listener = await open(() =>
    listenInBackground({
      ...server,
      place: getPlace(path),
      refuse: createRefusal(log),
      ...(idleTimeout === undefined ? {} : { idleMs: Math.ceil(idleTimeout * 1000) }),
    }),
  );
  log.info?.("listening", { url: `unix://${path}`, pid: process.pid });
  const why = await Promise.race([listener.ended, signaled]);
  listener.close();
  log.info?.("stopping", { cause: why ?? "signal" });
  await close();
}

/**
 * Refuses other users, and processes that are confined where this one is not: what a client starts here is not in its sandbox.
 */
function createRefusal(log: Logger): (socket: Socket) => string | undefined {
  const getPeer = createPeerReader();
  return (socket) => {
    const peer = getPeer(socket);
    if (peer === undefined) return undefined;
    const { uid, pid } = peer;
    const confinement = pid === undefined ? undefined : findConfinement(pid);
    const reason = uid === process.getuid?.() ? confinement : `it belongs to user ${uid}`;
    if (reason !== undefined) log.warn?.("a client was refused", { uid, pid, reason });
    return reason;
  };
}

/** Reports to the parent process whether this one listens. */
async function open(listen: () => Promise<Listener>): Promise<Listener> {
  try {
    const listener = await listen();
    report(READY);
    return listener;
  } catch (error) {
    report(messageOf(error));
    throw error;
  }
}

function report(text: string): void {
  try {
    writeSync(READY_FD, text);
    closeSync(READY_FD);
  } catch {
    // No parent is waiting: it was started by hand.
  }
}
