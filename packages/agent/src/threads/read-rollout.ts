import { openPlainFile } from "@codex/plain-file";
import type { ThreadLimits } from "../limits.js";
import { emptyThread, type ReadThread, readLine } from "./rollout-line.js";

/** Reads a thread's file. @throws Error naming the file when it exceeds a limit */
export async function readRollout(path: string, limits: ThreadLimits): Promise<ReadThread> {
  const thread = emptyThread();
  for await (const text of readLines(path, limits)) readLine(thread, text);
  return thread;
}

/** Yields the lines of a file, an unterminated last one included: it is used if it is valid JSON. */
export async function* readLines(path: string, limits: ThreadLimits): AsyncGenerator<string, void, void> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let total = 0;
  const add = (piece: Buffer) => {
    pending.push(piece);
    pendingBytes += piece.length;
    if (pendingBytes > limits.lineBytes) throw new Error(`${path}: a line is over ${limits.lineBytes} bytes`);
  };
  const file = await openPlainFile(path);
  for await (const chunk of file.createReadStream() as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > limits.fileBytes) throw new Error(`${path}: the file is over ${limits.fileBytes} bytes`);
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      add(chunk.subarray(from, end));
      yield Buffer.concat(pending).toString("utf8");
      pending = [];
      pendingBytes = 0;
      from = end + 1;
    }
    add(chunk.subarray(from));
  }
  if (pendingBytes > 0) yield Buffer.concat(pending).toString("utf8");
}

/** Metadata from the first line; undefined when it contains something else. */
export async function readMetaOf(path: string, limits: ThreadLimits): Promise<ReadThread["meta"]> {
  const handle = await openPlainFile(path);
  try {
    const buffer = Buffer.alloc(limits.metaBytes);
    let filled = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, filled, Math.min(READ_BYTES, buffer.length - filled));
      const end = buffer.subarray(filled, filled + bytesRead).indexOf(LINE_FEED);
      const thread = emptyThread();
      if (end !== -1 || bytesRead === 0) {
        readLine(thread, buffer.subarray(0, end === -1 ? filled : filled + end).toString("utf8"));
        return thread.meta;
      }
      filled += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

const LINE_FEED = 10;
const READ_BYTES = 64 * 1024;
