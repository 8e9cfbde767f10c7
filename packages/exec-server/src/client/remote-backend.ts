import { randomUUID } from "node:crypto";
import { RpcError } from "@codex/channel";
import type { SandboxSupport } from "@codex/executor-protocol";
import type { Telemetry, TraceContext } from "@codex/telemetry";
import { StartError } from "../process/errors.js";
import type { ExecBackend, ProcessSpec } from "../process/exec-backend.js";
import { checkStrings } from "../process/program.js";
import { toFileUrl } from "../protocol/file-url.js";
import { METHODS } from "../protocol/methods.js";
import { toWireSandbox } from "../protocol/native-sandbox.js";
import type { ExecServerClient } from "./exec-server-client.js";
import { RemoteProcess } from "./remote-process.js";
import { checkRemoteDirectory, toStartError } from "./start-failure.js";

export interface RemoteBackendOptions {
  /** Default: random UUIDs. */
  newId?: () => string;
  /** Milliseconds that processes have to end by themselves when the backend is closed. */
  closeGraceMs?: number;
  telemetry?: Telemetry | undefined;
}

/** Where processes run behind an exec-server. */
export interface RemoteBackend extends ExecBackend {
  start(spec: ProcessSpec): Promise<RemoteProcess>;
}

const DEFAULT_CLOSE_GRACE_MS = 500;

/**
 * Runs processes on the host of an exec-server. Does not own the client: `close` ends the processes alone.
 *
 * `start` throws ClientError when the connection was lost before the answer; what was started then is ended as soon as
 * the session is resumed.
 */
export function createRemoteBackend(client: ExecServerClient, options: RemoteBackendOptions = {}): RemoteBackend {
  const { newId = randomUUID, closeGraceMs = DEFAULT_CLOSE_GRACE_MS, telemetry = {} } = options;
  const owned = new Set<RemoteProcess>();
  const starting = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  const start = async (spec: ProcessSpec): Promise<RemoteProcess> => {
    checkStrings(spec);
    if (closing !== undefined) throw new StartError("closed", "the process host is shutting down");
    if (spec.stdio.kind === "pty") await checkRemoteDirectory(spec.cwd, client);
    const process = new RemoteProcess(spec, client.clock);
    try {
      process.bind(await startRemotely(spec, (trace) => client.start(toRequest(newId(), spec), process.take, trace)));
    } catch (error) {
      throw error instanceof RpcError ? await toStartError(error, spec, client) : error;
    }
    if (isRestricted(spec) && process.sandboxType === undefined) {
      await process.terminate({ graceMs: 0 });
      process.dispose();
      throw new StartError(
        "sandbox_unavailable",
        "the exec-server does not say that it made the sandbox: the program was ended",
      );
    }
    owned.add(process);
    void process.closed.then(() => owned.delete(process));
    return process;
  };
  const startRemotely = async <T>(
    spec: ProcessSpec,
    send: (trace: TraceContext | undefined) => Promise<T>,
  ): Promise<T> => {
    const attributes = { "rpc.system.name": "jsonrpc", "rpc.method": METHODS.processStart };
    const span = telemetry.tracing?.startSpan(METHODS.processStart, { kind: "client", parent: spec.trace, attributes });
    try {
      return await send(span?.context ?? spec.trace);
    } catch (error) {
      span?.fail(error instanceof RpcError ? String(error.code) : "connection");
      throw error;
    } finally {
      span?.end();
    }
  };
  const close = async () => {
    await Promise.allSettled(starting);
    await Promise.allSettled([...owned].map((process) => process.terminate({ by: "shutdown", graceMs: closeGraceMs })));
    for (const process of owned) process.dispose();
    owned.clear();
  };
  return {
    appliesEnvPolicy: true,
    getSandboxSupport: async () => getSupport(client.environmentInfo),
    start(spec) {
      const started = start(spec);
      starting.add(started);
      return started.finally(() => starting.delete(started));
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** A server with another name for it, or none that is known, is taken for Linux: it refuses what it cannot do. */
function getSupport(info: unknown): SandboxSupport {
  const platform = typeof info === "object" && info !== null && "platformOs" in info ? info.platformOs : "linux";
  if (platform === "windows")
    return { kind: "none", problem: "the sandbox of an exec-server on Windows is not known here" };
  return { kind: platform === "macos" ? "seatbelt" : "bubblewrap" };
}

/** Something of ours or the server's must hold it back. */
function isRestricted({ sandbox }: ProcessSpec): boolean {
  const permissions = sandbox?.permissions;
  if (permissions?.type !== "managed") return false;
  return permissions.network === "restricted" || permissions.file_system.type === "restricted";
}

const toRequest = (processId: string, { argv, arg0, cwd, env, envPolicy, stdio, sandbox }: ProcessSpec) => ({
  processId,
  argv,
  arg0: arg0 ?? null,
  cwd: toFileUrl(cwd),
  env,
  ...(envPolicy === undefined ? {} : { envPolicy }),
  ...(sandbox === undefined ? {} : { sandbox: toWireSandbox(sandbox) }),
  tty: stdio.kind === "pty",
  pipeStdin: stdio.kind === "pipe" && stdio.stdin === "open",
  ...(stdio.kind === "pty" ? stdio.size : {}),
});
