// Results of process/read, where output is split arbitrarily: numbers must be consistent instead of equal.
import { isAnswer } from "./messages.mjs";
import { joinAdjacent } from "./streams.mjs";
import { isObject, show } from "./values.mjs";

/** @typedef {Map<string, Map<number, string>>} Outputs chunks (base64) by process and seq */

export const isReadResult = (result) => isObject(result) && Array.isArray(result.chunks) && "nextSeq" in result;

/**
 * Chunks of every process from notifications and read results.
 * @param {{ message: import("./messages.mjs").Message, request: import("./messages.mjs").Message | undefined }[]} all
 * @returns {Outputs}
 */
export function collectOutputs(all) {
  /** @type {Outputs} */
  const outputs = new Map();
  const add = (processId, { seq, chunk }) => {
    if (!outputs.has(processId)) outputs.set(processId, new Map());
    const known = outputs.get(processId);
    if (!known.has(seq)) known.set(seq, chunk);
  };
  for (const { message, request } of all) {
    if (message.method === "process/output" && isObject(message.params)) add(message.params.processId, message.params);
    if (!isAnswer(message) || !isReadResult(message.result) || !isObject(request?.params)) continue;
    for (const chunk of message.result.chunks) if (isObject(chunk)) add(request.params.processId, chunk);
  }
  return outputs;
}

/**
 * Checks the numbers; the rest of both results can be compared member by member.
 * @returns {{ problem: string } | { expected: object, actual: object }}
 */
export function checkRead(expected, actual, { request, outputs }) {
  const params = isObject(request?.params) ? request.params : {};
  const problem = checkChunks(actual, params, outputs.actual.get(params.processId) ?? new Map());
  if (problem !== undefined) return { problem };
  const [wanted, given] = [expected, actual].map(({ chunks, ...rest }) => ({
    ...rest,
    chunks: joinAdjacent(chunks.map(({ seq: _, ...chunk }) => chunk)),
  }));
  if (!addsUp(expected, params, outputs.expected)) return { expected: wanted, actual: given };
  if (!addsUp(actual, params, outputs.actual)) {
    return { problem: `result.nextSeq: ${show(actual.nextSeq)} does not fit the chunks, exited and closed` };
  }
  return { expected: { ...wanted, nextSeq: 0 }, actual: { ...given, nextSeq: 0 } };
}

function checkChunks(result, { afterSeq }, known) {
  if (!Array.isArray(result.chunks)) return `result.chunks: expected a list, got ${show(result.chunks)}`;
  let last = afterSeq ?? 0;
  for (const chunk of result.chunks) {
    if (!isObject(chunk) || !Number.isSafeInteger(chunk.seq) || typeof chunk.chunk !== "string") {
      return `result.chunks: ${show(chunk)} is not a chunk with seq and base64`;
    }
    if (chunk.seq <= last) return `result.chunks: seq ${chunk.seq} comes after ${last}`;
    if (known.get(chunk.seq) !== chunk.chunk) {
      return `result.chunks: seq ${chunk.seq} is ${show(chunk.chunk)} here and ${show(known.get(chunk.seq))} elsewhere`;
    }
    last = chunk.seq;
  }
  return undefined;
}

/** Each number below `nextSeq` is a chunk, the exit or the close; with `maxBytes`, it follows the last chunk. */
function addsUp(result, { processId, maxBytes }, outputs) {
  const last = result.chunks.at(-1);
  if (typeof maxBytes === "number" && last !== undefined) return result.nextSeq === last.seq + 1;
  const seqs = [...(outputs.get(processId)?.keys() ?? [])].filter((seq) => seq < result.nextSeq);
  return result.nextSeq === 1 + seqs.length + Number(result.exited === true) + Number(result.closed === true);
}
