import { RpcError } from "@codex/channel";
import { METHODS } from "@codex/exec-server-protocol";
import { messageOf } from "@codex/values";
import { parseBase64, parseResponse, type ReadResponse, readResponse, toExit } from "../connection/responses.js";
import { ClientError } from "../errors.js";
import type { ProcessChannel } from "../events/process-channel.js";
import type { Catchup } from "../events/process-event.js";
import { MAX_FRUITLESS_READS, MAX_GAP_BYTES, MAX_GAP_READS } from "../limits.js";

/** Sends `process/read` and resolves with its result. */
export type SendRead = (params: Record<string, unknown>) => Promise<unknown>;

/**
 * Delivers the events of a process that were missed. If the process no longer exists on the server, fails it and resolves;
 * rejects when the connection ends.
 */
export async function catchUp(channel: ProcessChannel, send: SendRead): Promise<void> {
  try {
    channel.catchUp(await readAll(channel, send));
  } catch (error) {
    if (!(error instanceof RpcError) && !(error instanceof ClientError)) throw error;
    const reason = `process \`${channel.id}\` could not be read: ${messageOf(error)}`;
    channel.fail(new ClientError("session_lost", reason, { cause: error }));
  }
}

/** Reads the events that are missing before an event that has arrived, until there is no gap. */
export async function fillGap(channel: ProcessChannel, send: SendRead): Promise<void> {
  let fruitless = 0;
  while (channel.hasGap) {
    const before = channel.position;
    await catchUp(channel, send);
    fruitless = channel.position === before ? fruitless + 1 : 0;
    if (fruitless < MAX_FRUITLESS_READS) continue;
    const reason = `event ${before + 1} of process \`${channel.id}\` never came, and the server does not have it`;
    channel.fail(new ClientError("invalid_response", reason));
  }
}

/** Reads everything after the last event, in several requests where the server truncates its results. */
async function readAll(channel: ProcessChannel, send: SendRead): Promise<Catchup> {
  const chunks: Catchup["chunks"] = [];
  let afterSeq = channel.position;
  let bytes = 0;
  for (let reads = 1; ; reads += 1) {
    const response = await send({ processId: channel.id, afterSeq, maxBytes: null, waitMs: 0 });
    const page = parseResponse(readResponse, response, METHODS.processRead);
    if (typeof page.failure === "string") throw new ClientError("session_lost", page.failure);
    for (const [index, { seq, stream, chunk }] of page.chunks.entries()) {
      const bytesBefore = index === 0 && page.bytesBefore !== undefined ? { bytesBefore: page.bytesBefore } : {};
      chunks.push({ kind: "output", seq, stream, bytes: parseBase64(chunk, "process/read chunk"), ...bytesBefore });
      bytes += chunks.at(-1)!.bytes.length;
    }
    if (isLast(page, channel)) return toCatchup(chunks, page);
    // The rest is read after these were delivered; the exit may come after it.
    if (reads >= MAX_GAP_READS || bytes >= MAX_GAP_BYTES) {
      return toCatchup(chunks, { ...page, exited: false, closed: false });
    }
    afterSeq = page.nextSeq - 1;
  }
}

/** A result that ends with a chunk may be truncated, unless the next event has arrived already. */
const isLast = ({ chunks, nextSeq }: ReadResponse, channel: ProcessChannel): boolean =>
  chunks.length === 0 || chunks.at(-1)!.seq !== nextSeq - 1 || channel.isHeld(nextSeq);

const toCatchup = (chunks: Catchup["chunks"], page: ReadResponse): Catchup => ({
  chunks,
  nextSeq: page.nextSeq,
  exit: page.exited ? toExit({ ...page, exitCode: page.exitCode ?? -1 }) : undefined,
  closed: page.closed,
});
