import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createStdioChannel } from "@codex/channel";
import type { ToollessHost } from "@codex/exec-backend";
import { createCountingIds, createExecutor, type Executor, type HostedExecServer } from "@codex/executor";
import { EXECUTOR_SUBPROTOCOL, type ResourceLimits } from "@codex/executor-protocol";
import {
  createNative,
  createRemoteMounts,
  createUnsentLimit,
  type RemoteMounts,
  setSendBuffer,
  shieldProcess,
} from "@codex/native";
import { createLocalBackend } from "@codex/process-host";
import { createCommandSandbox } from "@codex/sandbox";
import type { Telemetry } from "@codex/telemetry";
import { defined } from "@codex/values";
import { OUTPUT_PIPE_BYTES, OUTPUT_READ_BYTES, OUTPUT_TAIL_BYTES, STDOUT_BUFFER_BYTES } from "../limits.js";
import {
  type BackgroundArguments,
  type BackgroundServer,
  readGraceMs,
  serveInBackground,
  withBackgroundLog,
} from "../process/background.js";
import { CommandError, SERVER_EXIT } from "../process/command-error.js";
import { type TlsArguments, watchListenToken, watchTlsIdentity } from "../process/credentials.js";
import { onStopSignal, openStdout } from "../process/host-process.js";
import { type LimitArguments, readLimits } from "../process/limit-options.js";
import { isLoopback, type ListenPlace, parseListenUrl } from "../process/listen-url.js";
import { type OpenedTelemetry, openTelemetry, type TelemetryArguments } from "../process/open-telemetry.js";
import { type DrainArguments, openServing } from "../process/serving.js";
import { refuseOnStdio } from "../process/stdio-listen.js";
import { collectGarbage, createFloodTuning, keepHeapSmall } from "../process/tune-engine.js";
import type { UsersArguments } from "../users/run-users.js";
import { type CeilingArguments, readCeiling } from "./ceiling-options.js";

/** Options of `codex executor`. */
export interface ExecutorCommandOptions
  extends CeilingArguments,
    TelemetryArguments,
    TlsArguments,
    BackgroundArguments,
    DrainArguments,
    LimitArguments,
    UsersArguments {
  listen: string;
  tokenFile?: string;
  allowInsecureListen: boolean;
  maxSessions: number;
  deterministicIds: boolean;
  /** Seconds for which sessions survive a lost connection. Default: 30, in the background 600. */
  resumeGrace?: number;
  /** Address of the exec-server on which programs run, instead of this host. */
  execServer?: string;
  /** Serves peers over another transport than `listen`. */
  serveOver?: (executor: Executor, telemetry: OpenedTelemetry) => Promise<void>;
  /** False: tools only. */
  files: boolean;
}

/** Dependencies provided by the command. */
export interface ExecutorWiring {
  /** Connects to the exec-server of `--exec-server`. @throws CommandError */
  connectRemote: (address: string, telemetry: Telemetry) => Promise<ToollessHost>;
}

/** Concurrent calls, in addition to one waiting call per session. */
const SPARE_CALLS = 192;

const STDOUT_FD = 1;

/** Seconds for which sessions survive a lost websocket. */
const GRACE_S = 30;

/** Serves this host until a shutdown request, the end of its channel, or a signal. */
export async function runExecutor(given: ExecutorCommandOptions, { connectRemote }: ExecutorWiring): Promise<void> {
  const options = withBackgroundLog(given);
  const { serveSocket } = options;
  const target = parseListenUrl(options.listen);
  if (target.kind === "stdio") {
    const { tokenFile, tlsCert, tlsKey } = options;
    refuseOnStdio({ "--token-file": tokenFile, "--tls-cert": tlsCert, "--tls-key": tlsKey });
  }
  if (options.users !== undefined) {
    if (target.kind === "stdio" || serveSocket !== undefined)
      throw new CommandError("--users needs --listen ws://", SERVER_EXIT.usage);
    const log = await openTelemetry("executor", { ...options, metrics: false }, true);
    return (await import("../users/run-users.js"))
      .serveUsers("executor", target, options, log)
      .finally(() => log.close());
  }
  const ceiling = readCeiling(options, options.execServer === undefined);
  const telemetry = await openTelemetry("executor", options, target.kind !== "stdio");
  const limits = await readLimits(options, telemetry.log);
  if (limits !== undefined && options.execServer !== undefined)
    throw new CommandError(
      "limits are of this host; an exec-server of --exec-server has those of its own options",
      SERVER_EXIT.usage,
    );
  const remote = options.execServer === undefined ? undefined : await connectRemote(options.execServer, telemetry);
  // The exec-server may be on this host.
  if (remote !== undefined) shieldProcess();
  // Shared by all orchestrators, so that the host is probed once.
  const mounts = createRemoteMounts();
  const sandbox = createCommandSandbox({ native: createNative(undefined, { closeInheritedOnExec: true }), mounts });
  const graceMs = readGraceMs(options, GRACE_S);
  const executor = createExecutor({
    backend:
      remote?.createBackend ??
      (() =>
        createLocalBackend({
          shielded: true,
          native: createNative(undefined, {
            outputPipeBytes: OUTPUT_PIPE_BYTES,
            outputReadBytes: OUTPUT_READ_BYTES,
            onFlood: createFloodTuning(),
            closeInheritedOnExec: true,
          }),
          telemetry,
          sandbox,
          mounts,
          onFirstStart() {
            keepHeapSmall();
            if (target.kind === "stdio") setSendBuffer(STDOUT_FD, STDOUT_BUFFER_BYTES);
          },
          collectGarbage: () => collectGarbage(),
          ...defined({ limits }),
        })),
    ...(remote === undefined ? { reachPaths: mounts.reach } : { host: remote.host, resolvePath: remote.resolvePath }),
    ...defined({ ceiling }),
    ...(remote === undefined && options.files
      ? { execServer: () => startExecServer(telemetry, graceMs, mounts, limits) }
      : {}),
    // Each session may have a call that waits for it, as `codex run` does.
    limits: {
      sessions: options.maxSessions,
      inFlightCalls: options.maxSessions + SPARE_CALLS,
      log: { tailBytes: OUTPUT_TAIL_BYTES },
      binaryDeltaBytes: OUTPUT_READ_BYTES,
    },
    resumeGraceMs: graceMs,
    telemetry,
    ...(options.deterministicIds ? { ids: createCountingIds() } : {}),
  });
  try {
    if (options.serveOver !== undefined) await options.serveOver(executor, telemetry);
    else if (serveSocket !== undefined)
      await serveInBackground(serveSocket, options, telemetry, toBackground(executor));
    else if (target.kind === "stdio") await serveStdio(executor);
    else await serveWebSocket(executor, target, options, telemetry);
  } finally {
    await remote?.close?.();
    await telemetry.close();
  }
}

/** Loaded on demand: most executors are used for their tools only. */
async function startExecServer(
  telemetry: OpenedTelemetry,
  graceMs: number,
  mounts: RemoteMounts,
  limits: ResourceLimits | undefined,
): Promise<HostedExecServer> {
  const { createLocalExecServer } = await import("../local-exec-server/create-local-exec-server.js");
  // Sessions survive as long as those of the executor, if that is longer than the default.
  const sessions = graceMs > GRACE_S * 1000 ? { busyDetachedMs: graceMs } : {};
  const { server, close } = await createLocalExecServer(telemetry, sessions, { mounts, ...defined({ limits }) });
  return {
    serve: (channel) => server.serve(channel, { transport: { kind: "socket", peer: "a tunnel" } }),
    drain: (options) => server.drain(options),
    close,
  };
}

const toBackground = (executor: Executor): BackgroundServer => ({
  countSessions: () => executor.orchestratorCount,
  serve: (socket) => executor.serve(createStdioChannel({ input: socket, output: socket })),
  close: () => executor.drain(),
});

async function serveStdio(executor: Executor): Promise<void> {
  const channel = createStdioChannel({ input: process.stdin, output: openStdout() });
  // A channel without a message so far belongs to no orchestrator yet.
  const stop = onStopSignal(() => void executor.drain().then(() => channel.close()));
  // Over stdio no reconnection is possible: the end of the channel ends everything.
  await executor.serve(channel, { resumable: false });
  stop();
}

async function serveWebSocket(
  executor: Executor,
  place: ListenPlace,
  options: ExecutorCommandOptions,
  { log, pages }: OpenedTelemetry,
): Promise<void> {
  const token = watchListenToken(options.tokenFile, log);
  if (options.tlsCert !== undefined && place.kind === "unix") {
    throw new CommandError("--tls-cert is for ws://; a unix socket does not leave this host", SERVER_EXIT.usage);
  }
  const tls = watchTlsIdentity(options, log);
  if (token === undefined && isOpen(place) && !options.allowInsecureListen) {
    throw new CommandError(
      `${place.host} can be reached from other machines, and any client of an executor can run programs as you: ` +
        "give --token-file, or --allow-insecure-listen if it is protected by other means",
      SERVER_EXIT.usage,
    );
  }
  const { answerProbe, createWebSocketListener, FIRST_MESSAGE_MS } = await import("@codex/channel/websocket");
  const serving = openServing(log, options, [token, tls]);
  let isReady = true;
  const served = new Set<Promise<void>>();
  const limitUnsent = createUnsentLimit();
  const listener = await createWebSocketListener({
    firstMessageMs: FIRST_MESSAGE_MS,
    ...place,
    subprotocols: [EXECUTOR_SUBPROTOCOL],
    onHttp: (request, response) => answerProbe(request, response, () => isReady),
    ...defined({ tls }),
    ...(token === undefined ? {} : { authorize: bearer(token) }),
    ...defined({ pages }),
    onChannel(channel, { socket }) {
      limitUnsent(socket);
      const ended = executor.serve(channel).finally(() => served.delete(ended));
      served.add(ended);
    },
  });
  serving.announce(listener.url);
  await serving.stopped;
  isReady = false;
  if (serving.drainMs === 0) listener.stopAccepting();
  await executor.drain({ waitMs: serving.drainMs });
  await listener.close();
  await Promise.all(served);
  serving.close();
}

/** Whether other machines can reach it. */
const isOpen = (place: ListenPlace): place is Extract<ListenPlace, { host: string }> =>
  place.kind === "websocket" && !isLoopback(place.host);

/** Compares digests of equal length in constant time. */
function bearer(getToken: () => string) {
  return (request: IncomingMessage) => {
    const given = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
    if (given !== undefined && timingSafeEqual(digest(given), digest(getToken()))) return { ok: true as const };
    const message = given === undefined ? "a bearer token is needed" : "the bearer token is wrong";
    return { ok: false as const, status: 401, message };
  };
}

const digest = (text: string) => createHash("sha256").update(text).digest();
