import { fstatSync, readSync, writeSync } from "node:fs";
import { MAX_BEGINNING_BYTES } from "../limits.js";
import { answerHandshake } from "./answer-handshake.js";

/** What was read from stdin before `serveMcpStdio`, which is given it. */
export interface StdioBeginning {
  /** Empty at the end of stdin. */
  input: Uint8Array;
  /** Id of the first request where it has been answered. */
  answered?: string | number;
}

/**
 * Waits for the first message on stdin, and answers a plain `initialize` or `server/discover` on stdout at once: import what takes
 * long to load afterwards. The wait blocks the process; signals have their default effect. Undefined where nothing was read: stdin
 * is not a pipe, socket or file, or does not block.
 * @param version of the server, as `createMcpServers` has it
 */
export function answerFirstRequest(version: string): StdioBeginning | undefined {
  const input = readBeginning();
  if (input === undefined) return undefined;
  const end = input.indexOf("\n");
  const answer = end === -1 ? undefined : answerHandshake(input.toString("utf8", 0, end), version);
  return answer !== undefined && write(`${JSON.stringify(answer.response)}\n`)
    ? { input, answered: answer.id }
    : { input };
}

function readBeginning(): Buffer | undefined {
  const stats = fstatSync(0);
  if (!stats.isFIFO() && !stats.isSocket() && !stats.isFile()) return undefined;
  const buffer = Buffer.alloc(MAX_BEGINNING_BYTES);
  try {
    return buffer.subarray(0, readSync(0, buffer));
  } catch {
    return undefined; // it does not block, or cannot be read, which is reported when it is served
  }
}

/** Whether any of it was written: a pipe takes so little completely or not at all. */
function write(text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    const written = writeSync(1, bytes);
    if (written < bytes.length) process.stdout.write(bytes.subarray(written));
    return true;
  } catch {
    return false; // left to the server, which reports it
  }
}
