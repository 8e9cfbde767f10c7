import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Channel } from "@codex/channel";
import { connectStdio, connectWebSocket, createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import type { Random } from "../random.js";
import { findMarked } from "./effects.js";
import type { ExecutorTarget } from "./executor-targets.js";
import { createFaultProxy } from "./fault-proxy.js";
import type { History } from "./history.js";
import { type PeerServer, SHIPPED_COMMAND, startPeerServer } from "./peer-server.js";
import type { TargetContext } from "./run-seed.js";

/** Milliseconds until all processes of a killed executor must have ended. */
export const GONE_MS = 1_000;

/** Milliseconds after the start of the first programs: often while they are being started, sometimes after they have ended. */
export const drawMoment = (random: Random): number => random.between(0, random.pick([5, 30, 100, 400]));

/** The executor runs in a separate process, and gets SIGKILL. */
export function openExecutorKilled(context: TargetContext): Promise<ExecutorTarget> {
  const open = context.random.pick([openOverStdio, openOverSocket, openRestarted]);
  return open(context);
}

async function openOverStdio({ random, history, directory }: TargetContext): Promise<ExecutorTarget> {
  const channel = await connectExecutor(directory);
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  await orchestrator.attach({ name: "main", channel });
  const pid = Number(readFileSync(pidFile(directory), "utf8"));
  const moment = drawMoment(random);
  let killed = false;
  return {
    ...base(orchestrator, [`stdio: the executor is killed after ${moment} ms`]),
    mayBeLost: () => killed,
    async disturb() {
      await sleep(moment);
      killed = true;
      history.note("executor: killed");
      process.kill(pid, "SIGKILL");
      await checkGone(directory, history);
    },
    close: () => channel.close(),
  };
}

async function openOverSocket({ random, history, directory }: TargetContext): Promise<ExecutorTarget> {
  const server = await startPeerServer(LISTEN_COMMAND);
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  await orchestrator.attach({ name: "main", channel: connectWebSocket(server.url) });
  const moment = drawMoment(random);
  let killed = false;
  return {
    ...base(orchestrator, [`websocket: the executor is killed after ${moment} ms`]),
    mayBeLost: () => killed,
    async disturb() {
      await sleep(moment);
      killed = true;
      await killServer(server, directory, history);
    },
    close: () => server.close(),
  };
}

/** Another executor starts at the same address: programs must not be started again there. */
async function openRestarted({ random, history, directory }: TargetContext): Promise<ExecutorTarget> {
  let server = await startPeerServer(LISTEN_COMMAND);
  // Keeps the address, which another process could bind in between.
  const proxy = await createFaultProxy(server.url, [], (text) => history.note(text));
  const orchestrator = createOrchestrator({
    policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
    defaults: { timings: { reconnectBaseMs: 5, reconnectMaxMs: 50 } },
  });
  await orchestrator.attach({ name: "main", reconnect: (signal) => connectWebSocket(proxy.url, { signal }) });
  const moment = drawMoment(random);
  let killed = false;
  return {
    ...base(orchestrator, [`websocket: the executor is killed after ${moment} ms, and replaced`]),
    mayBeLost: () => killed,
    async disturb() {
      await sleep(moment);
      killed = true;
      await killServer(server, directory, history);
      server = await startPeerServer(LISTEN_COMMAND);
      proxy.setTarget(server.url);
      history.note("executor: replaced");
    },
    async close() {
      await proxy.close();
      await server.close();
    },
  };
}

const base = (orchestrator: Orchestrator, plan: readonly string[]) => ({
  orchestrator,
  plan,
  heal() {},
  leftOverMs: GONE_MS,
});

export const LISTEN_COMMAND = `${SHIPPED_COMMAND} executor --listen ws://127.0.0.1:0`;

const pidFile = (directory: string): string => join(directory, "executor-pid");

/** An executor on stdio, which records its process id; it is found by its environment, like its programs. */
export function connectExecutor(directory: string): Promise<Channel> {
  const env = { ...process.env, FAULTS_RUN: directory };
  const script = `echo $$ >"$1"; exec ${SHIPPED_COMMAND} executor`;
  return connectStdio({ command: "/bin/sh", args: ["-c", script, "sh", pidFile(directory)], env });
}

async function killServer(server: PeerServer, directory: string, history: History): Promise<void> {
  history.note("executor: killed");
  await server.kill();
  await checkGone(directory, history);
}

async function checkGone(directory: string, history: History): Promise<void> {
  const left = await findMarked(directory, GONE_MS);
  history.check(left.length === 0, () => `after ${GONE_MS} ms still runs: ${left.join("; ")}`);
  history.note("executor: everything is gone");
}
