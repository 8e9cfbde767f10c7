// Compares an exchange with its recording.
import { compareCoalesced } from "./compare-coalesced.mjs";
import { compareExact } from "./compare-exact.mjs";
import { fill } from "./fixture.mjs";
import { collectOutputs } from "./read-results.mjs";
import { show } from "./values.mjs";

/**
 * @param {import("./cases.mjs").Case} recorded
 * @param {import("./replay.mjs").Exchange} exchange
 * @param {{ fixture: string, httpBase: string }} names
 * @returns {{ finding?: import("./messages.mjs").Finding, additions: string[] }} the first difference, and members
 *   that were added and are tolerated
 */
export function compareExchange(recorded, exchange, names) {
  /** @type {Set<string>} */
  const additions = new Set();
  const finding = findFirst(recorded, exchange, {
    ...names,
    onAdditions: (names) => {
      for (const name of names) additions.add(name);
    },
  });
  return { ...(finding === undefined ? {} : { finding }), additions: [...additions] };
}

function findFirst(recorded, exchange, names) {
  const { connections } = exchange;
  const expected = splitByConnection(fill(recorded.expect, names), connections.length);
  const rules = connections.map((_, index) => createRules(recorded, exchange, names, index));
  const outputs = {
    expected: collectOutputs(withRequests(expected, rules)),
    actual: collectOutputs(
      withRequests(
        connections.map(({ received }) => received),
        rules,
      ),
    ),
  };
  const compare = recorded.compare === "exact" ? compareExact : compareCoalesced;
  for (const [index, wanted] of expected.entries()) {
    const actual = connections[index]?.received ?? [];
    const finding = compare(wanted, actual, rules[index] ?? rules[0], outputs);
    if (finding === undefined) continue;
    return { ...finding, text: expected.length > 1 ? `connection ${index}: ${finding.text}` : finding.text };
  }
  return compareClosed(recorded.expectClosed ?? [], connections);
}

function splitByConnection(messages, count) {
  const last = Math.max(count - 1, ...messages.map(({ $connection = 0 }) => $connection));
  return Array.from({ length: last + 1 }, (_, index) =>
    messages.filter(({ $connection = 0 }) => $connection === index).map(({ $connection: _, ...message }) => message),
  );
}

const withRequests = (lists, rules) =>
  lists.flatMap((messages, index) =>
    messages.map((message) => ({ message, request: rules[index]?.requestOf(message.id) })),
  );

/** @returns {import("./messages.mjs").Rules} */
function createRules(recorded, { sent, session }, { httpBase, onAdditions }, connection) {
  const own = sent.filter((each) => each.connection === connection);
  const find = (id) => own.find(({ message }) => message.id === id && "method" in message);
  const { note = "", messageMatters = false } = recorded;
  return {
    messageMatters,
    onAdditions,
    sortEntries: note.includes("compare sorted"),
    linesAreASet: note.includes("compare as a set of lines"),
    requestOf: (id) => find(id)?.message,
    // The response to a resume refers to the requested session.
    known: (id) => (find(id)?.usesSession && session !== undefined ? { httpBase, sessionId: session } : { httpBase }),
  };
}

function compareClosed(expected, connections) {
  const closed = connections.map(({ closedByServer }) => closedByServer).filter((each) => each !== undefined);
  if (closed.length > expected.length) {
    return { kind: "final", text: `the server closed the connection: ${show(closed[expected.length])}` };
  }
  if (closed.length < expected.length) return { kind: "open", text: "the server did not close the connection" };
  for (const [index, { wsCloseCode }] of expected.entries()) {
    const actual = closed[index].wsCloseCode;
    if (wsCloseCode !== undefined && actual !== wsCloseCode) {
      return { kind: "final", text: `the connection was closed with ${show(actual)}, expected ${wsCloseCode}` };
    }
  }
  return undefined;
}
