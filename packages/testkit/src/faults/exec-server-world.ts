import { createEnvironmentInfo, createExecServer, type ExecServer, listenWebSocket } from "@codex/exec-server";
import { createLocalBackend } from "@codex/process-host";
import { runExecServer } from "./exec-server-run.js";
import {
  ABANDONED_MS,
  DETACHED_MS,
  openAbandoned,
  openChannel,
  openKilled,
  openStdio,
  openWire,
} from "./exec-server-targets.js";
import { runUnderLimits } from "./limits-run.js";
import { OWN_COMMAND, startPeerServer } from "./peer-server.js";
import type { RunResult } from "./run-result.js";

/** Runs faults of some kinds, on servers that many runs share. */
export interface World {
  /** Kinds and their weights. */
  readonly kinds: Readonly<Record<string, number>>;
  run(kind: string, seed: number): Promise<RunResult>;
  close(): Promise<void>;
}

/** Weights of the kinds. */
const EXEC_SERVER_KINDS: Readonly<Record<string, number>> = {
  wire: 70,
  channel: 15,
  stdio: 9,
  abandoned: 4,
  killed: 1,
  limits: 1,
};

/** Servers in this process, so that a run costs a few milliseconds. */
export async function createExecServerWorld(): Promise<World> {
  const backend = createLocalBackend();
  const info = await createEnvironmentInfo({ executorVersion: "0.169.0" });
  const lasting = createExecServer({ backend, environment: { info }, sessions: { detachedMs: DETACHED_MS } });
  const brief = createExecServer({ backend, environment: { info }, sessions: { detachedMs: ABANDONED_MS } });
  const listeners = await Promise.all([listen(lasting), listen(brief)]);
  const [url, briefUrl] = listeners.map((listener) => listener.url) as [string, string];
  return {
    kinds: EXEC_SERVER_KINDS,
    run(kind, seed) {
      switch (kind) {
        case "wire":
          return runExecServer(seed, kind, (context) => openWire(url, context));
        case "channel":
          return runExecServer(seed, kind, (context) => openChannel(lasting, context));
        case "stdio":
          return runExecServer(seed, kind, (context) => openStdio(lasting, context));
        case "abandoned":
          return runExecServer(seed, kind, (context) => openAbandoned(briefUrl, context));
        case "killed":
          return runExecServer(seed, kind, (context) => openKilled(`${OWN_COMMAND} exec-server`, context));
        case "limits":
          return runUnderLimits(seed);
        default:
          throw new RangeError(`no kind of run is called ${JSON.stringify(kind)}`);
      }
    },
    async close() {
      await Promise.all(listeners.map((listener) => listener.close()));
      await Promise.all([lasting.close(), brief.close()]);
      await backend.close();
    },
  };
}

/** Milliseconds that Codex keeps a session without a connection. */
const PEER_DETACHED_MS = 80_000;

/** Another exec-server, started by a command that prints `ws://IP:PORT`; every run uses connections that break. */
export async function createPeerWorld(command: string): Promise<World> {
  const server = await startPeerServer(command);
  return {
    kinds: { wire: 1 },
    run: (kind, seed) => runExecServer(seed, kind, (context) => openWire(server.url, context, PEER_DETACHED_MS)),
    close: () => server.close(),
  };
}

const listen = (server: ExecServer) => listenWebSocket(server, { host: "127.0.0.1", port: 0 });
