// Performs the steps of a case in order and records the received messages.
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fill } from "./fixture.mjs";
import { pollOutput } from "./poll-output.mjs";
import { show } from "./values.mjs";

/**
 * @typedef {import("./messages.mjs").Message} Message
 * @typedef {{ connection: number, message: Message, usesSession: boolean }} Sent
 * @typedef {{
 *   connections: import("./connection.mjs").Connection[],
 *   sent: Sent[],
 *   session: string | undefined,
 *   problem?: string,
 * }} Exchange `problem`: the wait that failed
 */

/**
 * Performs the steps of a case. Never rejects because of the server. Leaves the connections open; the caller drops them.
 * @param {import("./cases.mjs").Case} recorded
 * @param {{
 *   connect: () => Promise<import("./connection.mjs").Connection>,
 *   names: { fixture: string, httpBase: string },
 *   signal: AbortSignal,
 * }} options `signal` ends every wait
 * @param {Exchange} exchange filled as messages are sent and received
 */
export async function replay(recorded, { connect, names, signal }, exchange) {
  const { connections, sent } = exchange;
  connections.push(await connect());
  const player = createPlayer(recorded, { connect, names, signal }, exchange);
  try {
    for (const step of recorded.send) await player.play(step);
    for (const { connection, message } of sent.filter((each) => player.isPipelined(each))) {
      await player.untilAnswered(connections[connection], message, 0);
    }
  } catch (error) {
    if (!(error instanceof WaitFailed)) throw error;
    // If the end of the connection was recorded, it is compared like a message.
    if (recorded.expectClosed === undefined) exchange.problem = error.message;
  }
}

/** The awaited message cannot arrive any more, or did not in time. */
class WaitFailed extends Error {}

function createPlayer(recorded, { connect, names, signal }, exchange) {
  const { connections, sent } = exchange;
  const current = () => connections[connections.length - 1];
  const pipelined = new Set();
  /** Number of waits by connection and key: each wait is for one more message than the last. */
  const waits = new Map();
  const untilNext = (key, test, what) => {
    const id = `${connections.length} ${key}`;
    waits.set(id, (waits.get(id) ?? 0) + 1);
    return until(current(), ({ received }) => received.filter(test).length >= waits.get(id), what, signal);
  };
  const untilAnswered = (connection, { id, method }, from) => {
    const isAnswer = (message) => !("method" in message) && (message.id === id || message.id === -1);
    const what = `the response to ${method} with id ${show(id)}`;
    return until(connection, ({ received }) => received.slice(from).some(isAnswer), what, signal);
  };
  const ask = async (message) => {
    current().sendText(JSON.stringify(message));
    await untilAnswered(current(), message, 0);
    return current().received.findLast(({ id }) => id === message.id || id === -1);
  };
  const steps = {
    $sleepMs: (ms) => sleep(ms, undefined, { signal }).catch(() => {}),
    $waitFor: (method) => untilNext(`method ${method}`, (message) => message.method === method, method),
    $waitForId: (id) => {
      const key = JSON.stringify(id);
      return untilNext(
        `id ${key}`,
        (message) => message.id === id && !("method" in message),
        `an answer with id ${key}`,
      );
    },
    $waitForDone: (requestId) => {
      const isDone = ({ method, params }) =>
        method === "http/request/bodyDelta" && params?.requestId === requestId && params?.done === true;
      return untilNext(`done ${requestId}`, isDone, `the end of the body of ${show(requestId)}`);
    },
    $raw: (text) => current().sendText(text),
    $binary: (text) => current().sendBinary(text),
    $endInput: () => current().endInput(),
    $drop: () => current().drop(),
    $newConnection: async () => connections.push(await connect()),
    $touch: (path) => writeFile(path, ""),
    $poll: (options) => pollOutput(current(), options, ask),
  };
  return {
    untilAnswered,
    isPipelined: ({ message }) => pipelined.has(message),
    /** @param {Message} step */
    async play(step) {
      exchange.session ??= sessionOf(connections[0]);
      const { pipelined: isPipelined = recorded.pipelined ?? false, ...given } = step;
      const usesSession = JSON.stringify(given).includes("$SESSION");
      const message = fill(given, { ...names, session: exchange.session });
      const [name] = Object.keys(message);
      if (Object.hasOwn(steps, name)) return steps[name](message[name]);
      if (name?.startsWith("$")) throw new Error(`\`${name}\` is not a step of a case`);
      const from = current().received.length;
      sent.push({ connection: connections.length - 1, message, usesSession });
      current().sendText(JSON.stringify(message));
      if (!("method" in message) || message.id === undefined || message.id === null) return undefined;
      if (isPipelined) return pipelined.add(message);
      return untilAnswered(current(), message, from);
    },
  };
}

const sessionOf = ({ received }) =>
  received.map(({ result }) => result?.sessionId).find((id) => typeof id === "string" && id !== "");

/** @throws WaitFailed */
async function until(connection, test, what, signal) {
  while (!test(connection)) {
    if (connection.closedByServer !== undefined)
      throw new WaitFailed(`the server closed the connection before ${what}`);
    if (!connection.isOpen) throw new WaitFailed(`the connection was dropped before ${what}`);
    if (signal.aborted) throw new WaitFailed(`${what} did not come in time`);
    await connection.changed(signal);
  }
}
