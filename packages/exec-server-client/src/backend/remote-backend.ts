import { randomUUID } from "node:crypto";
import { RpcError } from "@codex/channel";
import type { ExecBackend, ProcessSpec } from "@codex/exec-backend";
import { checkStrings, StartError, UnknownStartError } from "@codex/exec-backend";
import { METHODS, toFileUrl, toWireSandbox } from "@codex/exec-server-protocol";
import type { SandboxSupport } from "@codex/executor-protocol";
import type { Telemetry, TraceContext } from "@codex/telemetry";
import { defined } from "@codex/values";
import * as z from "zod/mini";
import type { ServerInfo } from "../connection/connection.js";
import type { ExecServerClient } from "../exec-server-client.js";
import { MAX_START_HOLD_MS, START_WAIT_MS, START_WAIT_PARTS } from "../limits.js";
import { type RemoteNetwork, RemoteNetworks } from "./remote-network.js";
import { RemoteProcess } from "./remote-process.js";
import { checkRemoteDirectory, classifyFailure, toStartError } from "./start-failure.js";

/** How `RemoteBackend` names and ends processes. */
export interface RemoteBackendOptions {
  /** Creates process ids; default random UUIDs. */
  newId?: () => string;
  /** Milliseconds between SIGTERM and SIGKILL when the backend is closed. Default 500. */
  closeGraceMs?: number;
  telemetry?: Telemetry | undefined;
}

/** A backend whose processes run on the host of an exec-server. */
export interface RemoteBackend extends ExecBackend {
  start(spec: ProcessSpec, signal?: AbortSignal): Promise<RemoteProcess>;
}

const DEFAULT_CLOSE_GRACE_MS = 500;

/**
 * Runs processes on the host of an exec-server. The client is not owned: `close` only ends the processes.
 *
 * `start` throws UnknownStartError if the connection was lost before the response, or the response is invalid. A process that
 * was started nevertheless is terminated, after the session is resumed.
 */
export function createRemoteBackend(client: ExecServerClient, options: RemoteBackendOptions = {}): RemoteBackend {
  const { newId = randomUUID, closeGraceMs = DEFAULT_CLOSE_GRACE_MS, telemetry = {} } = options;
  const owned = new Set<RemoteProcess>();
  const starting = new Set<Promise<unknown>>();
  const networks = new RemoteNetworks();
  let closing: Promise<void> | undefined;

  const start = async (spec: ProcessSpec, unsent: AbortSignal): Promise<RemoteProcess> => {
    checkStrings(spec);
    if (closing !== undefined) throw new StartError("closed", "the process host is shutting down");
    const network = spec.network === undefined ? undefined : networks.open(spec.network);
    if (network !== undefined && spec.sandbox?.permissions.type !== "managed")
      throw new StartError("sandbox_invalid", "a managed network needs a sandbox");
    const process = new RemoteProcess(spec, client.clock, network);
    // Output that arrives with the answer is held back until the caller, in the same turn of the event loop, could follow the log.
    const hold = process.log.hold(0, 0);
    let stopTimer = () => {};
    let isSent = false;
    try {
      if (spec.stdio.kind === "pty") await checkRemoteDirectory(spec.cwd, client, unsent);
      const fetchedInfo = isRestricted(spec) ? await fetchEnvironmentInfo(client, unsent) : undefined;
      const onSend = (server: ServerInfo) => {
        const info = server.environmentInfo ?? fetchedInfo;
        if (isRestricted(spec) && !server.sandboxedProcess) requireSandbox(info);
        network?.check(server, info);
        isSent = true;
        stopTimer = client.clock.after(MAX_START_HOLD_MS, hold.release);
      };
      const request = toRequest(newId(), spec, network);
      process.bind(
        await startRemotely(spec, (trace) => client.start(request, process.take, trace, onSend, unsent, network)),
      );
    } catch (error) {
      hold.release();
      throw error instanceof RpcError && isSent
        ? await toStartError(error, spec, client)
        : classifyFailure(error, isSent, spec);
    } finally {
      stopTimer();
      setImmediate(hold.release);
    }
    if (isRestricted(spec) && process.sandboxType === undefined) {
      await process.terminate({ graceMs: 0 });
      process.dispose();
      const text =
        "the exec-server does not say that it made the sandbox: the program was ended; what it did is unknown";
      throw new UnknownStartError(text);
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
    takesNetwork: true,
    getSandboxSupport: async () => getSupport(await fetchEnvironmentInfo(client), client.serverInfo?.sandboxedProcess),
    start(spec, signal) {
      const wait = limitWait(client, signal);
      const started = start(spec, wait.unsent).finally(wait.end);
      starting.add(started);
      return started.finally(() => starting.delete(started));
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Limits how long a start waits for the connection: a late one could no longer be reported. */
function limitWait({ clock, serverName }: ExecServerClient, signal: AbortSignal | undefined) {
  const waiting = new AbortController();
  const giveUp = (why: string) => waiting.abort(new StartError("unreachable", `${serverName} did not answer ${why}`));
  let parts = START_WAIT_PARTS;
  const onPart = () => {
    parts -= 1;
    if (parts === 0) giveUp(`within ${START_WAIT_MS} ms`);
    else cancel = clock.after(START_WAIT_MS / START_WAIT_PARTS, onPart);
  };
  let cancel = clock.after(START_WAIT_MS / START_WAIT_PARTS, onPart);
  const onAbort = () => giveUp("before the start was given up");
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener("abort", onAbort);
  const end = () => {
    cancel();
    signal?.removeEventListener("abort", onAbort);
  };
  return { unsent: waiting.signal, end };
}

/** The environment info of the server: from the handshake, or requested. */
async function fetchEnvironmentInfo(client: ExecServerClient, signal?: AbortSignal): Promise<unknown> {
  if (client.environmentInfo !== undefined && client.environmentInfo !== null) return client.environmentInfo;
  return client.environment.info(signal).catch((error: unknown) => {
    if (error instanceof RpcError) return undefined; // it does not support the method
    throw error;
  });
}

const environmentAbilities = z.object({
  platformOs: z.nullish(z.string()),
  capabilities: z.nullish(z.looseObject({ sandboxedFileStreaming: z.optional(z.boolean()) })),
});

/** Codex 0.169.0 reports a capability; servers of this project report it in the handshake and refuse unsupported sandboxes. */
function getSupport(info: unknown, sandboxedProcess = false): SandboxSupport {
  const { platformOs, capabilities } = environmentAbilities.safeParse(info).data ?? {};
  if (platformOs === "windows")
    return { kind: "none", problem: "the sandbox of an exec-server on Windows is not known here" };
  if (!sandboxedProcess && capabilities?.sandboxedFileStreaming !== true)
    return { kind: "none", problem: "the exec-server does not say that it makes sandboxes" };
  return { kind: platformOs === "macos" ? "seatbelt" : "bubblewrap" };
}

/** Checked before the start: a server that does not support sandboxes would run the program without one. @throws StartError */
function requireSandbox(info: unknown): void {
  const { kind, problem } = getSupport(info);
  if (kind === "none") throw new StartError("sandbox_unavailable", `nothing was started: ${problem}`);
}

/** Whether the sandbox restricts anything. */
function isRestricted({ sandbox, network }: ProcessSpec): boolean {
  if (network !== undefined) return true;
  const permissions = sandbox?.permissions;
  if (permissions?.type !== "managed") return false;
  return permissions.network === "restricted" || permissions.file_system.type === "restricted";
}

function toRequest(processId: string, spec: ProcessSpec, network: RemoteNetwork | undefined) {
  const { argv, arg0, cwd, env, envPolicy, stdio, sandbox, log: _log, trace: _trace, gate, network: _, ...more } = spec;
  const { programQuestions: _questions, limits = {}, ...others } = more; // the questions are of the gate
  // Does not compile when a spec gains a member: it has to be sent or refused, never left out.
  others satisfies Record<string, never>;
  if (gate !== undefined)
    throw new StartError("os_error", "an exec-server cannot hold rules for the programs of a command");
  if (Object.keys(limits).length > 0)
    throw new StartError(
      "os_error",
      "nothing was started: an exec-server is told no limits for a command; it has those of its own options",
    );
  return {
    processId,
    argv,
    arg0: arg0 ?? null,
    cwd: toFileUrl(cwd),
    env,
    ...metadataOf(env),
    ...defined({ envPolicy }),
    ...(sandbox === undefined ? {} : { sandbox: toWireSandbox(sandbox) }),
    ...network?.members,
    tty: stdio.kind === "pty",
    pipeStdin: stdio.kind === "pipe" && stdio.stdin === "open",
    ...(stdio.kind === "pty" ? stdio.size : {}),
  };
}

/** The ids of the call as members of their own: servers log them, and set the variables also where a policy leaves them out. */
function metadataOf({ CODEX_THREAD_ID: threadId = "", CODEX_TOOL_CALL_ID: toolCallId = "" }: ProcessSpec["env"]) {
  const metadata = {
    ...(UUID.test(threadId) ? { threadId } : {}),
    ...(toolCallId === "" ? {} : { toolCallId }),
  };
  return Object.keys(metadata).length === 0 ? {} : { metadata };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
