import {
  type AuthOptions,
  authFileOf,
  type ExecServer,
  type ListenWebSocketOptions,
  listenWebSocket,
  parseListenUrl,
  resolveAuth,
  serveStdio,
} from "@codex/exec-server";
import { watchFiles } from "@codex/plain-file";
import { escapeForTerminal } from "@codex/telemetry";
import { defined, messageOf } from "@codex/values";
import { MAX_CREDENTIAL_BYTES } from "../limits.js";
import { createLocalExecServer } from "../local-exec-server/create-local-exec-server.js";
import type { BackgroundArguments, BackgroundServer } from "../process/background.js";
import { readGraceMs, serveInBackground, withBackgroundLog } from "../process/background.js";
import { CommandError, SERVER_EXIT } from "../process/command-error.js";
import { readTlsIdentity, type TlsArguments, watchTlsIdentity } from "../process/credentials.js";
import { onStopSignal, openStdout } from "../process/host-process.js";
import { type LimitArguments, readLimits } from "../process/limit-options.js";
import { findInheritedPlace } from "../process/listen-url.js";
import { type OpenedTelemetry, openTelemetry, type TelemetryArguments } from "../process/open-telemetry.js";
import { type DrainArguments, openServing, type Serving } from "../process/serving.js";
import type { UsersArguments } from "../users/run-users.js";
import { type LaunchArguments, readLaunch } from "./launch-options.js";

/** Options of `codex exec-server`. */
export interface ExecServerCommandOptions
  extends AuthOptions,
    TelemetryArguments,
    TlsArguments,
    BackgroundArguments,
    LaunchArguments,
    DrainArguments,
    LimitArguments,
    UsersArguments {
  listen: string;
  allowInsecureListen: boolean;
  /** Seconds for which a session with processes survives without a connection. */
  resumeGrace?: number;
}

/** Serves this host to Codex clients until a signal or, over stdio, the end of input. */
export const runExecServer = (options: ExecServerCommandOptions): Promise<void> =>
  reportAsCodex(() => serve(withBackgroundLog(options)));

/** Sets the exit code on failure; never rejects. */
export async function reportAsCodex(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // The format of Codex, which clients may parse.
    const message = messageOf(error);
    process.stderr.write(`Error: ${process.stderr.isTTY ? escapeForTerminal(message) : message}\n`);
    process.exitCode = error instanceof CommandError ? error.exitCode : SERVER_EXIT.failure;
  }
}

async function serve(options: ExecServerCommandOptions): Promise<void> {
  const auth = resolveAuth(options);
  const { serveSocket } = options;
  const target =
    serveSocket === undefined
      ? (findInheritedPlace(options.listen) ?? parseListenUrl(options.listen))
      : ({ kind: "background" } as const);
  if (target.kind === "stdio" && auth !== undefined) {
    throw new Error("WebSocket auth requires a WebSocket listener, not stdio");
  }
  if (target.kind === "stdio" && readTlsIdentity(options) !== undefined) {
    throw new Error("TLS requires a WebSocket listener, not stdio");
  }
  if (options.users !== undefined) {
    if (target.kind === "stdio" || target.kind === "background") throw new Error("--users needs --listen ws://");
    const log = await openTelemetry("exec-server", { ...options, metrics: false }, true);
    return (await import("../users/run-users.js"))
      .serveUsers("exec-server", target, options, log)
      .finally(() => log.close());
  }
  const telemetry = await openTelemetry("exec-server", options, isListener(target.kind));
  const { upstreamForPrivate, watchStdin } = readLaunch(options, telemetry.log);
  const { server, close } = await createLocalExecServer(telemetry, readGrace(options), {
    upstreamForPrivate,
    ...defined({ limits: await readLimits(options, telemetry.log) }),
  });
  try {
    if (serveSocket !== undefined) await serveInBackground(serveSocket, options, telemetry, toBackground(server));
    else if (target.kind === "stdio") await serveStreams(server);
    else if (target.kind !== "background") {
      const { allowInsecureListen: allowInsecure } = options;
      const { pages } = telemetry;
      const watched = { auth: watchAuth(options, auth, telemetry.log), tls: watchTlsIdentity(options, telemetry.log) };
      const more = defined({ pages, ...watched });
      const serving = openServing(telemetry.log, options, [watched.auth, watched.tls]);
      watchStdin(() => serving.stop());
      await serveWebSocket(server, { ...target, allowInsecure, ...more }, serving);
    }
  } finally {
    await close();
    await telemetry.close();
  }
}

/** The token or the secret, read again when its file has changed. */
function watchAuth(
  options: ExecServerCommandOptions,
  auth: ReturnType<typeof resolveAuth>,
  log: OpenedTelemetry["log"],
) {
  const file = authFileOf(options);
  if (auth === undefined || file === undefined) return auth === undefined ? undefined : () => auth;
  const parse = () => resolveAuth(options) ?? auth;
  return watchFiles({ paths: [file], maxBytes: MAX_CREDENTIAL_BYTES, parse, log });
}

const toBackground = (server: ExecServer): BackgroundServer => ({
  countSessions: () => server.sessionCount,
  serve: (socket) =>
    serveStdio(server, { input: socket, output: socket }, { kind: "socket", peer: "the background socket" }),
  close: () => server.drain(),
});

const isListener = (kind: string): boolean => kind === "websocket" || kind === "unix";

function readGrace(options: ExecServerCommandOptions) {
  const busyDetachedMs = readGraceMs(options, undefined);
  return busyDetachedMs === undefined ? {} : { busyDetachedMs };
}

async function serveStreams(server: ExecServer): Promise<void> {
  const off = onStopSignal(() => void server.drain());
  await serveStdio(server, { input: process.stdin, output: openStdout() });
  off();
}

async function serveWebSocket(server: ExecServer, options: ListenWebSocketOptions, serving: Serving): Promise<void> {
  let isReady = true;
  const listener = await listenWebSocket(server, { ...options, isReady: () => isReady });
  serving.announce(listener.url);
  await serving.stopped;
  isReady = false;
  if (serving.drainMs === 0) listener.stopAccepting();
  await server.drain({ waitMs: serving.drainMs });
  await listener.close();
  serving.close();
  // It would keep this process alive.
  process.stdin.destroy();
}
