// The step $poll: reads the retained output of a process from its first number on, as a client that polls does.
import { createHash } from "node:crypto";

/**
 * Reads until nothing follows, and replaces all messages about the process by one that every server can give alike: how much is
 * retained differs, but not whether each retained chunk is returned once, in order, up to the last byte.
 * @param {import("./connection.mjs").Connection} connection
 * @param {{ processId: string, maxBytes?: number, expectedBytes: number }} options `expectedBytes`: written by the process
 * @param {(message: import("./messages.mjs").Message) => Promise<import("./messages.mjs").Message>} ask sends a request
 */
export async function pollOutput(connection, { processId, maxBytes, expectedBytes }, ask) {
  const isAboutIt = ({ id, params }) =>
    params?.processId === processId || (typeof id === "string" && id.startsWith(`poll ${processId} `));
  const report = (found) => {
    connection.received = connection.received.filter((message) => !isAboutIt(message));
    connection.received.push({ $polled: { processId, ...found } });
  };
  const polled = [];
  let afterSeq = 0;
  for (;;) {
    const id = `poll ${processId} ${afterSeq}`;
    const params = { processId, afterSeq, ...(maxBytes === undefined ? {} : { maxBytes }) };
    const { result, error } = await ask({ id, method: "process/read", params });
    if (error !== undefined) return report({ error });
    polled.push(...result.chunks);
    if (result.chunks.length === 0) break;
    afterSeq = result.nextSeq - 1;
  }
  const pushed = connection.received.filter(({ method }) => method === "process/output").map(({ params }) => params);
  const seqs = polled.map(({ seq }) => seq);
  const retained = Buffer.concat(polled.map(({ chunk }) => Buffer.from(chunk, "base64")));
  const all = Buffer.concat(pushed.map(({ chunk }) => Buffer.from(chunk, "base64")));
  return report({
    isComplete: all.length === expectedBytes,
    returnsEachOnce:
      seqs.join() ===
      pushed
        .slice(pushed.length - seqs.length)
        .map(({ seq }) => seq)
        .join(),
    isWhatWasPushed: digest(retained) === digest(all.subarray(all.length - retained.length)),
    // Codex 0.169.0 retains 1 MiB in whole chunks.
    isRetained: retained.length > 1_000_000,
  });
}

const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");
