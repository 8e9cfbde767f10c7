// Runs one case: starts a server, replays, compares, cleans up.
import { setTimeout as sleep } from "node:timers/promises";
import { whyStdioImpossible } from "./cases.mjs";
import { compareExchange } from "./compare.mjs";
import { createDeadline } from "./deadline.mjs";
import { createFixture } from "./fixture.mjs";
import { replay } from "./replay.mjs";
import { show } from "./values.mjs";

/** Milliseconds after the last expected message in which no other may arrive. */
const SILENCE_MS = 150;
/** Time limit for ending processes that a case left on a shared server, milliseconds. */
const CLEAN_UP_MS = 1000;

/**
 * @typedef {"passed" | "differs" | "failed" | "skipped"} Verdict
 * @typedef {{ name: string, verdict: Verdict, detail?: string, mayDiffer?: string, durationMs: number }} Result
 */

/**
 * @param {import("./cases.mjs").Case} recorded
 * @param {{
 *   servers: import("./server.mjs").Servers, httpBase: string, timeoutMs: number, settleMs: number, overStdio: boolean,
 *   stop: AbortSignal
 * }} options `settleMs`: time limit for messages after the last step; `overStdio`: run every case over stdio
 * @returns {Promise<Result>}
 */
export async function runCase(recorded, { servers, overStdio, ...more }) {
  const { name, mayDiffer } = recorded;
  const started = performance.now();
  const result = (verdict, detail) => ({
    name,
    verdict,
    ...(detail === undefined ? {} : { detail }),
    ...(mayDiffer === undefined ? {} : { mayDiffer }),
    durationMs: Math.round(performance.now() - started),
  });
  const transport = overStdio ? "stdio" : (recorded.transport ?? "websocket");
  const obstacle = findObstacle(recorded, transport, servers);
  if (obstacle !== undefined) return result("skipped", obstacle);
  try {
    const { difference, additions } = await findDifference(recorded, transport, { servers, ...more });
    if (difference === undefined)
      return result("passed", additions.length > 0 ? `adds ${additions.join(", ")}` : undefined);
    return result(mayDiffer === undefined ? "failed" : "differs", difference);
  } catch (error) {
    return result("failed", error.message);
  }
}

function findObstacle(recorded, transport, { isShared }) {
  if (transport !== "stdio") return undefined;
  if (isShared) return "stdio needs a command, the server is a URL";
  return recorded.transport === "stdio" ? undefined : whyStdioImpossible(recorded);
}

async function findDifference(recorded, transport, { servers, httpBase, timeoutMs, settleMs, stop }) {
  const fixture = await createFixture();
  const names = { fixture: fixture.path, httpBase };
  /** @type {import("./replay.mjs").Exchange} */
  const exchange = { connections: [], sent: [], session: undefined };
  const deadline = createDeadline(timeoutMs, stop);
  let server;
  try {
    server = await servers.start(transport);
    await replay(recorded, { connect: () => server.connect(), names, signal: deadline.signal }, exchange);
    const { finding, additions } = await settle(recorded, exchange, { names, settleMs, stop });
    const problems = [finding?.text, exchange.problem].filter((each) => each !== undefined);
    return { difference: problems.length > 0 ? problems.join("; ") : undefined, additions };
  } finally {
    deadline.clear();
    if (servers.isShared) await endProcesses(exchange);
    for (const connection of exchange.connections) connection.drop();
    await server?.end();
    await fixture.remove();
  }
}

/** Compares once all expected messages have arrived or `settleMs` is over, and no other arrived for `SILENCE_MS`. */
async function settle(recorded, exchange, { names, settleMs, stop }) {
  const settleDeadline = createDeadline(settleMs, stop);
  let comparison = compareExchange(recorded, exchange, names);
  // If a wait of a step has failed, waiting again would not help.
  while (comparison.finding?.kind === "open" && exchange.problem === undefined && !settleDeadline.signal.aborted) {
    await changed(exchange.connections, settleDeadline.signal);
    comparison = compareExchange(recorded, exchange, names);
  }
  settleDeadline.clear();
  if (comparison.finding !== undefined) return comparison;
  await sleep(SILENCE_MS);
  return compareExchange(recorded, exchange, names);
}

async function changed(connections, signal) {
  const others = new AbortController();
  const stop = () => others.abort();
  signal.addEventListener("abort", stop);
  await Promise.race(connections.map((connection) => connection.changed(others.signal)));
  signal.removeEventListener("abort", stop);
  stop();
}

/** A shared server keeps running, so the processes started on it must be ended. */
async function endProcesses({ connections, sent }) {
  const started = sent.filter(({ message }) => message.method === "process/start");
  const processIds = new Set(started.map(({ message }) => message.params?.processId).filter(Boolean));
  const { signal, clear } = createDeadline(CLEAN_UP_MS);
  for (const [index, connection] of connections.entries()) {
    for (const processId of processIds) {
      const id = `end ${index} ${show(processId)}`;
      connection.sendText(JSON.stringify({ id, method: "process/terminate", params: { processId } }));
      while (connection.isOpen && !signal.aborted && !connection.received.some((message) => message.id === id)) {
        await connection.changed(signal);
      }
    }
  }
  clear();
}
