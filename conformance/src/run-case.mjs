// One case from its start to its verdict, with everything ended.
import { setTimeout as sleep } from "node:timers/promises";
import { whyNotStdio } from "./cases.mjs";
import { createDeadline } from "./deadline.mjs";
import { judge } from "./judge.mjs";
import { replay } from "./replay.mjs";
import { createFixture } from "./surroundings.mjs";
import { show } from "./values.mjs";

/** Milliseconds of silence in which nothing more may come. */
const SILENCE_MS = 150;
/** Milliseconds for ending the processes that a case left on a shared server. */
const CLEAN_UP_MS = 1000;

/**
 * @typedef {"passed" | "differs" | "failed" | "skipped"} Verdict
 * @typedef {{ name: string, verdict: Verdict, detail?: string, mayDiffer?: string, durationMs: number }} Result
 */

/**
 * @param {import("./cases.mjs").Case} recorded
 * @param {{
 *   servers: import("./server.mjs").Servers, httpBase: string, timeoutMs: number, patienceMs: number, overStdio: boolean,
 *   stop: AbortSignal
 * }} options `patienceMs`: for what comes after the last step; `overStdio`: every case over stdio
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
  const obstacle = whyNot(recorded, transport, servers);
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

function whyNot(recorded, transport, { isShared }) {
  if (transport !== "stdio") return undefined;
  if (isShared) return "stdio needs a command, the server is a URL";
  return recorded.transport === "stdio" ? undefined : whyNotStdio(recorded);
}

async function findDifference(recorded, transport, { servers, httpBase, timeoutMs, patienceMs, stop }) {
  const fixture = await createFixture();
  const names = { fixture: fixture.path, httpBase };
  /** @type {import("./replay.mjs").Exchange} */
  const exchange = { connections: [], sent: [], session: undefined };
  const deadline = createDeadline(timeoutMs, stop);
  let server;
  try {
    server = await servers.start(transport);
    await replay(recorded, { connect: () => server.connect(), names, signal: deadline.signal }, exchange);
    const { finding, additions } = await settle(recorded, exchange, { names, patienceMs, stop });
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

/** The difference that is left when everything had its time to come, and nothing more came. */
async function settle(recorded, exchange, { names, patienceMs, stop }) {
  const patience = createDeadline(patienceMs, stop);
  let judgement = judge(recorded, exchange, names);
  // Nobody waits twice: a step has waited already.
  while (judgement.finding?.kind === "open" && exchange.problem === undefined && !patience.signal.aborted) {
    await changed(exchange.connections, patience.signal);
    judgement = judge(recorded, exchange, names);
  }
  patience.clear();
  if (judgement.finding !== undefined) return judgement;
  await sleep(SILENCE_MS);
  return judge(recorded, exchange, names);
}

async function changed(connections, signal) {
  const others = new AbortController();
  const stop = () => others.abort();
  signal.addEventListener("abort", stop);
  await Promise.race(connections.map((connection) => connection.changed(others.signal)));
  signal.removeEventListener("abort", stop);
  stop();
}

/** A shared server goes on: what was started on it is ended. */
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
