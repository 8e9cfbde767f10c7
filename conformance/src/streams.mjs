// Numbered notifications that are split arbitrarily: process output and bodies of HTTP responses.
import { findDifference, isObject, show } from "./values.mjs";

const PROCESS_EVENTS = new Set(["process/output", "process/exited", "process/closed"]);

export const isProcessEvent = ({ method, params }) => PROCESS_EVENTS.has(method) && isObject(params);
export const isBodyDelta = ({ method, params }) => method === "http/request/bodyDelta" && isObject(params);

/**
 * @param {import("./messages.mjs").Message[]} expected
 * @param {import("./messages.mjs").Message[]} actual
 * @param {{ linesAreASet: boolean }} rules
 * @returns {string | undefined} the first difference
 */
export function compareProcesses(expected, actual, rules) {
  for (const processId of keysOf("processId", expected, actual)) {
    const [wanted, given] = [expected, actual].map((all) => all.filter(({ params }) => params.processId === processId));
    const problem = compareProcess(wanted, given, rules);
    if (problem !== undefined) return `process ${show(processId)}: ${problem}`;
  }
  return undefined;
}

const keysOf = (name, ...lists) => new Set(lists.flat().map(({ params }) => params[name]));

function compareProcess(expected, actual, rules) {
  return (
    checkNumbers(expected, actual) ??
    checkClosedLast(expected, actual) ??
    compareLists("process/output", outputOf(expected, rules), outputOf(actual, rules)) ??
    compareLists("process/exited", numberless(expected, "process/exited"), numberless(actual, "process/exited")) ??
    compareLists("process/closed", numberless(expected, "process/closed"), numberless(actual, "process/closed"))
  );
}

/** Numbers must have no gap and no repetition, and start at 1 if the recording does. */
function checkNumbers(expected, actual) {
  const first = Math.min(...expected.map(({ params }) => params.seq));
  let last;
  for (const { method, params } of bySeq(actual)) {
    const { seq } = params;
    if (!Number.isSafeInteger(seq) || seq < 1) return `${method} has the seq ${show(seq)}`;
    if (last === undefined && first === 1 && seq !== 1) return `the first seq is ${seq}, expected 1`;
    if (last !== undefined && seq === last) return `seq ${seq} comes twice`;
    if (last !== undefined && seq !== last + 1) return `gap in seq: after ${last} comes ${seq}`;
    last = seq;
  }
  return undefined;
}

const bySeq = (messages) => [...messages].sort((one, other) => one.params.seq - other.params.seq);

/** Compared by number: on the wire it may come before others, because clients sort. */
function checkClosedLast(expected, actual) {
  if (!expected.some(({ method }) => method === "process/closed")) return undefined;
  const closed = actual.find(({ method }) => method === "process/closed");
  if (closed === undefined) return "process/closed is missing";
  const last = bySeq(actual).at(-1);
  if (last === closed) return undefined;
  return `process/closed has seq ${closed.params.seq}, but ${last.method} has ${last.params.seq}`;
}

/** Output ordered by seq, with adjacent chunks of one stream joined. */
function outputOf(messages, { linesAreASet }) {
  const chunks = bySeq(messages)
    .filter(({ method }) => method === "process/output")
    .map(({ params: { seq: _, ...params }, ...message }) => ({ ...message, ...params }));
  const joined = joinAdjacent(chunks);
  return linesAreASet ? joined.map(({ chunk, ...rest }) => ({ ...rest, chunk: sortLines(chunk) })) : joined;
}

const sortLines = (text) => (typeof text === "string" ? text.split("\n").sort().join("\n") : text);

/**
 * Joins adjacent chunks that differ only in `chunk`, decoded if it is text.
 * @param {Record<string, unknown>[]} chunks
 */
export function joinAdjacent(chunks) {
  /** @type {{ rest: object, bytes: Buffer[], bad: unknown[] }[]} */
  const runs = [];
  for (const { chunk, ...rest } of chunks) {
    const last = runs.at(-1);
    const isSame = last !== undefined && findDifference(last.rest, rest) === undefined;
    const run = isSame ? last : { rest, bytes: [], bad: [] };
    if (!isSame) runs.push(run);
    if (isBase64(chunk)) run.bytes.push(Buffer.from(chunk, "base64"));
    else run.bad.push(chunk);
  }
  return runs.map(({ rest, bytes, bad }) => {
    const all = Buffer.concat(bytes);
    const text = all.toString();
    const chunk = Buffer.from(text).equals(all) ? text : all.toString("base64");
    return { ...rest, chunk, ...(bad.length > 0 ? { notBase64: bad } : {}) };
  });
}

const isBase64 = (text) => typeof text === "string" && Buffer.from(text, "base64").toString("base64") === text;

const numberless = (messages, wanted) =>
  messages.filter(({ method }) => method === wanted).map(({ params: { seq: _, ...params } }) => params);

function compareLists(name, expected, actual) {
  const difference = findDifference(expected, actual);
  return difference === undefined ? undefined : `${name}${difference.path}: ${difference.problem}`;
}

/**
 * Bodies: deltas by seq, joined; how the last one ended.
 * @returns {string | undefined} the first difference
 */
export function compareBodies(expected, actual) {
  for (const requestId of keysOf("requestId", expected, actual)) {
    const [wanted, given] = [expected, actual].map((all) => all.filter(({ params }) => params.requestId === requestId));
    const problem = checkNumbers(wanted, given) ?? compareLists("body", [bodyOf(wanted)], [bodyOf(given)]);
    if (problem !== undefined) return `HTTP request ${show(requestId)}: ${problem}`;
  }
  return undefined;
}

function bodyOf(messages) {
  const all = bySeq(messages).map(({ params: { seq: _, ...params } }) => params);
  const { deltaBase64: _, ...end } = all.at(-1) ?? {};
  return { ...end, body: joinAdjacent(all.map(({ deltaBase64 }) => ({ chunk: deltaBase64 }))) };
}
