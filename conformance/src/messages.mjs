// Compares one message with the recorded one: responses, notifications, error texts.
import { findDifference, isObject, show } from "./values.mjs";

/**
 * @typedef {Record<string, unknown>} Message
 * @typedef {{ kind: "final" | "open", text: string }} Finding `open`: more messages may still settle it
 * @typedef {{
 *   messageMatters: boolean,
 *   sortEntries: boolean,
 *   linesAreASet: boolean,
 *   known: (id: unknown) => import("./values.mjs").Known,
 *   requestOf: (id: unknown) => Message | undefined,
 *   onAdditions: (names: string[]) => void,
 * }} Rules how messages of one connection are compared
 */

/** @param {Message} message */
export const isAnswer = (message) => !Object.hasOwn(message, "method");

/** Members that a server may add to these responses: clients ignore them, and servers of both protocol versions need them. */
const ADDITIONS = {
  initialize: { protocolVersion: "string" },
  "process/write": { accepted: "boolean" },
  "process/terminate": { members: "object" },
  "process/read": { truncatedBefore: "number", firstSeq: "number", bytesBefore: "number" },
};

/**
 * The additions in a response that was recorded without them.
 * @param {Message} expected
 * @param {Message} actual
 * @param {Message | undefined} request
 * @returns {string[]} their names
 */
function additionsOf(expected, actual, request) {
  if (!isObject(expected.result) || !isObject(actual.result)) return [];
  return Object.entries(ADDITIONS[request?.method] ?? {})
    .filter(([name, type]) => !Object.hasOwn(expected.result, name) && typeof actual.result[name] === type)
    .map(([name]) => name);
}

/**
 * The first difference of one message, as text.
 * @param {Message} expected
 * @param {Message} actual
 * @param {Rules} rules
 * @returns {string | undefined}
 */
export function compareMessages(expected, actual, rules) {
  const known = rules.known(expected.id);
  const wanted = withoutText(sorted(expected, rules), rules);
  const additions = additionsOf(expected, actual, rules.requestOf(expected.id));
  rules.onAdditions(additions);
  const given = withoutText(sorted(withoutMembers(actual, additions), rules), rules);
  const difference = findDifference(wanted, given, known);
  if (difference !== undefined) return `${difference.path || "message"}: ${difference.problem}`;
  return isErrorReply(expected) ? compareErrorText(expected, actual, rules) : undefined;
}

function withoutMembers(message, names) {
  if (names.length === 0) return message;
  const result = Object.fromEntries(Object.entries(message.result).filter(([name]) => !names.includes(name)));
  return { ...message, result };
}

/** Error texts are not compared, unless the case sets `messageMatters`; the member itself must be text. */
function withoutText(message, { messageMatters }) {
  if (messageMatters || !isErrorReply(message) || typeof message.error.message !== "string") return message;
  return { ...message, error: { ...message.error, message: "(advisory)" } };
}

const isErrorReply = (message) => isAnswer(message) && isObject(message.error);

function sorted(message, { sortEntries }) {
  if (!sortEntries || !isObject(message.result) || !Array.isArray(message.result.entries)) return message;
  const entries = [...message.result.entries].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  return { ...message, result: { ...message.result, entries } };
}

/** The key does not depend on the order of members. */
const sortKey = (entry) => JSON.stringify(isObject(entry) ? Object.entries(entry).sort() : entry);

function compareErrorText(expected, actual, rules) {
  const text = actual.error.message;
  if (text === "") return "error.message: empty";
  const thing = namedThing(expected, rules);
  if (thing === undefined || text.includes(thing)) return undefined;
  return `error.message: does not name ${show(thing)}: ${show(text)}`;
}

/** What the text of an error must name: the first thing in backquotes, else the process. */
function namedThing({ id, error }, { requestOf }) {
  // There is no name for a message that could not be parsed.
  if (id === -1) return undefined;
  const quoted = /`([^`]+)`/.exec(error.message)?.[1];
  if (quoted !== undefined) return quoted;
  const processId = requestOf(id)?.params?.processId;
  const words = error.message.split(/[\s,:]+/);
  return typeof processId === "string" && words.includes(processId) ? processId : undefined;
}
