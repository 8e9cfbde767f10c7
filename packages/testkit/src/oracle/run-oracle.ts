import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecBackend } from "@codex/exec-backend";
import { UnknownStartError } from "@codex/exec-backend";
import { createEnvironmentInfo, createExecServer, listenWebSocket } from "@codex/exec-server";
import { ClientError, createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import { createLocalBackend } from "@codex/process-host";
import { createFaultProxy } from "../faults/fault-proxy.js";
import { createWirePlan } from "../faults/wire-fault.js";
import { createRandom } from "../random.js";
import type { OracleScript } from "./oracle-script.js";
import { compareResults } from "./result.js";
import { runDirect, SCRIPT_TIMEOUT_MS } from "./run-direct.js";
import { runThrough } from "./run-through.js";

/** A way to run a script through this project. */
export interface Route {
  name: string;
  /** Opens a backend for one script, and returns it with a function that closes it. */
  open(index: number): Promise<{ backend: ExecBackend; close(): Promise<void> }>;
}

/** Opens three routes: in this process, over a websocket, and over one that breaks. */
export async function openRoutes(seed: number): Promise<{ list: Route[]; close(): Promise<void> }> {
  const local = createLocalBackend();
  const info = await createEnvironmentInfo({ executorVersion: "0.169.0" });
  const server = createExecServer({ backend: local, environment: { info } });
  const listener = await listenWebSocket(server, { host: "127.0.0.1", port: 0 });
  const overWebSocket = async (url: string) => {
    const client = await ExecServerClient.connectWebSocket(url, { random: () => 0 });
    return { backend: createRemoteBackend(client), close: () => client.close() };
  };
  return {
    list: [
      { name: "local", open: async () => ({ backend: local, close: async () => {} }) },
      { name: "websocket", open: () => overWebSocket(listener.url) },
      {
        name: "websocket with cuts",
        async open(index) {
          const plan = createWirePlan(createRandom(seed, `oracle ${index}`), { halfOpen: false });
          const proxy = await createFaultProxy(listener.url, plan, () => {});
          const { backend, close } = await retry(() => overWebSocket(proxy.url));
          return {
            backend,
            async close() {
              await close();
              await proxy.close();
            },
          };
        },
      },
    ],
    async close() {
      await listener.close();
      await server.close();
      await local.close();
    },
  };
}

/** Whether no program runs after a failed start, so that it can be repeated. */
const isLostStart = (error: unknown): boolean =>
  error instanceof UnknownStartError || (error instanceof ClientError && error.code === "connection_lost");

async function retry<T>(work: () => Promise<T>, isRetryable: (error: unknown) => boolean = () => true): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 20 || !isRetryable(error)) throw error;
    }
  }
}

export interface OracleOptions {
  scripts: readonly OracleScript[];
  routes: readonly Route[];
  /** Number of concurrent scripts. */
  jobs: number;
  has(program: string): boolean;
  print(line: string): void;
}

export interface OracleTotals {
  compared: number;
  skipped: number;
  different: number;
}

/** Runs each script directly and over each route, and prints where they differ. */
export async function runOracle({ scripts, routes, jobs, has, print }: OracleOptions): Promise<OracleTotals> {
  const totals: OracleTotals = { compared: 0, skipped: 0, different: 0 };
  let next = 0;
  const work = async () => {
    while (next < scripts.length) {
      const index = next;
      next += 1;
      const script = scripts[index]!;
      const missing = [script.needs, script.tty ? "script" : undefined].find((one) => one !== undefined && !has(one));
      if (missing !== undefined) {
        totals.skipped += 1;
        print(`skipped (no ${missing}): ${script.script}`);
        continue;
      }
      for (const route of routes) {
        const difference = await compareRoute(script, route, index);
        totals.compared += 1;
        if (difference === undefined) continue;
        totals.different += 1;
        print(`DIFFERENT ${route.name}: ${JSON.stringify(script.script)}: ${difference}`);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return totals;
}

/** The difference of a script's results, or undefined. */
async function compareRoute(script: OracleScript, route: Route, index: number): Promise<string | undefined> {
  const started = performance.now();
  const expected = await inDirectory((cwd) => runDirect(script, createRunContext(cwd)));
  if (performance.now() - started >= SCRIPT_TIMEOUT_MS) return "takes too long when it runs directly";
  const { backend, close } = await route.open(index);
  try {
    const run = () => inDirectory((cwd) => runThrough(backend, script, createRunContext(cwd)));
    const actual = await retry(run, isLostStart);
    return await compareResults(expected, actual, script.screen === true);
  } catch (error) {
    return `threw ${String(error)}`;
  } finally {
    await close();
  }
}

const createRunContext = (cwd: string) => ({
  cwd,
  env: {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: cwd,
    LC_ALL: "C.UTF-8",
    TERM: "xterm-256color",
    SHELL: "/bin/sh",
    PS1: "$ ",
  },
});

async function inDirectory<T>(work: (cwd: string) => Promise<T>): Promise<T> {
  const cwd = mkdtempSync(join(tmpdir(), "oracle-"));
  try {
    return await work(cwd);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
