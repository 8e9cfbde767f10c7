import { setTimeout as pause } from "node:timers/promises";
import type { Channel } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-backend";
import { createFileSystem, createSandboxedFiles, type FileSystem } from "@codex/host-files";
import { createRemoteMounts } from "@codex/native";
import { createShellSnapshots } from "@codex/shell-snapshot";
import type { Telemetry } from "@codex/telemetry";
import type { CapabilityHost } from "./capabilities/methods.js";
import { ByteBudget } from "./connection/byte-budget.js";
import { Connection, type ConnectionContext } from "./connection/connection.js";
import type { HostEnvironment } from "./environment/methods.js";
import { createHttpClient, type HttpClient } from "./http/http-client.js";
import { DRAIN_GRACE_MS, DRAIN_POLL_MS, MAX_TOTAL_RESPONSE_BYTES, SERVER_CLOSE_MS } from "./limits.js";
import { createServerTelemetry } from "./server-telemetry.js";
import { SessionTable, type SessionTableOptions } from "./session/session-table.js";
import type { Transport } from "./transport.js";

/** Collaborators of an exec-server. */
export interface ExecServerOptions {
  /** Where processes run. Not owned. */
  backend: ExecBackend;
  environment: HostEnvironment & CapabilityHost;
  fileSystem?: FileSystem;
  http?: HttpClient;
  /** Environment that an `envPolicy` inherits from; default that of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  sessions?: Omit<SessionTableOptions, "backend" | "telemetry">;
  /** Milliseconds between SIGTERM and SIGKILL for the processes of a server that drains; default 2,000. */
  drainGraceMs?: number;
  telemetry?: Telemetry | undefined;
}

/** Serves the exec-server protocol to any number of clients. */
export interface ExecServer {
  /** Serves one client on a channel, which it owns. Resolves when the connection and its resources are gone; never rejects. */
  serve(channel: Channel, options: { transport: Transport }): Promise<void>;
  /** Number of sessions, including those without a connection. */
  readonly sessionCount: number;
  /**
   * Ends the server as one that is asked to: serves no other client and starts nothing more, ends the processes (SIGTERM, after
   * `drainGraceMs` SIGKILL), delivers their last output and how they ended, then closes the connections. A client that does not
   * read has 3 s more than `drainGraceMs`. Idempotent; never rejects. `close` meanwhile ends everything immediately.
   * @param options `waitMs`: processes have so long to end by themselves first; meanwhile clients may resume sessions. Default 0
   */
  drain(options?: { waitMs?: number }): Promise<void>;
  /** Ends every connection, session and process. Idempotent; never rejects. */
  close(): Promise<void>;
  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Creates a server; listeners hand it channels with `serve`. */
export function createExecServer(options: ExecServerOptions): ExecServer {
  const {
    backend,
    environment,
    fileSystem = createFileSystem({ sandboxed: createSandboxedFiles(), mounts: createRemoteMounts() }),
    http = createHttpClient(),
    drainGraceMs = DRAIN_GRACE_MS,
  } = options;
  const telemetry = createServerTelemetry(options.telemetry ?? {});
  const sessions = new SessionTable({ ...options.sessions, backend, telemetry });
  const env = options.env ?? process.env;
  const snapshots = createShellSnapshots({ backend, env });
  const context: ConnectionContext = {
    sessions,
    fileSystem,
    http,
    environment: { ...environment, infoJson: Buffer.from(JSON.stringify(environment.info)) },
    responseBudget: new ByteBudget(MAX_TOTAL_RESPONSE_BYTES),
    bodyBudget: new ByteBudget(MAX_TOTAL_RESPONSE_BYTES),
    telemetry,
    defaults: { env, shell: environment.info.shell.path, snapshots },
  };
  const connections = new Set<Connection>();
  let closing: Promise<void> | undefined;
  let draining: Promise<void> | undefined;
  /** Whether draining has begun to end what runs. */
  let isDrained = false;

  const drain = async (waitMs: number) => {
    if (waitMs > 0 && closing === undefined) {
      sessions.refuseStarts();
      const until = performance.now() + waitMs;
      while (sessions.runningCount > 0 && performance.now() < until && closing === undefined)
        await pause(DRAIN_POLL_MS);
    }
    isDrained = true;
    // Each for itself: a client that reads nothing delays no other one.
    await Promise.all(Array.from(connections, (connection) => connection.drain(drainGraceMs)));
    closing ??= close(SERVER_CLOSE_MS);
    await closing;
  };
  const close = async (flushMs: number) => {
    // Concurrently: this process may be killed if it takes long to exit, and its processes must not outlive it.
    await Promise.all([
      sessions.close(),
      snapshots.close(),
      ...Array.from(connections, (connection) => connection.close(flushMs)),
    ]);
  };
  return {
    async serve(channel, { transport }) {
      if (closing !== undefined || isDrained) return channel.close({ deadlineMs: 0 });
      const connection = new Connection(channel, transport, context);
      connections.add(connection);
      telemetry.opened(transport);
      telemetry.connections.value += 1;
      await connection.closed;
      telemetry.connections.value -= 1;
      connections.delete(connection);
    },
    get sessionCount() {
      return sessions.count;
    },
    drain({ waitMs = 0 } = {}) {
      draining ??= drain(waitMs);
      return draining;
    },
    close() {
      closing ??= close(SERVER_CLOSE_MS);
      return closing;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}
