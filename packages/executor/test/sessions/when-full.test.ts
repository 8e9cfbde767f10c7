import { describe, expect, it } from "vitest";
import { bytesOf, type Client, execRequest } from "../support/client.js";
import { ManualClock, settle } from "../support/manual-clock.js";
import { idOf, useRealHosts } from "../support/real-host.js";
import { useResumableHosts } from "../support/resumable.js";
import { createScriptedBackend } from "../support/scripted-backend.js";

const LOG = { headBytes: 64 * 1024, tailBytes: 128 * 1024, spillBytes: 256 * 1024 };
const TOTAL = 4_000_000;
/** The most that one read of a pipe returns. */
const LARGEST_CHUNK = 64 * 1024;
/** Says on stderr, which comes last, that it has written everything. */
const WRITER = ["sh", "-c", `head -c ${TOTAL} /dev/zero | tr '\\0' a; echo done >&2`];

/** Polls until the end; answers every range, and the ranges that were left out as gone. */
async function readAll(client: Client, first: Awaited<ReturnType<Client["exec"]>>) {
  const answers = [first];
  const id = first.result.processId;
  for (let last = first; !last.result.closed; answers.push(last)) {
    last = await client.write({ processId: id ?? idOf(first), maxOutputTokens: 1_000_000 });
  }
  const gone = answers.flatMap(({ result }) => result.omitted.filter(({ reason }) => reason === "evicted"));
  return { answers, gone, text: answers.map(({ text }) => text).join("") };
}

describe("a session with more output than memory keeps", () => {
  const open = useRealHosts();
  const request = { command: WRITER, yieldTimeMs: 5_000, maxOutputTokens: 1_000_000 };

  it("pauses its program until an answer takes the output: nothing is dropped", async () => {
    const client = open({ limits: { log: LOG } });
    const { answers, gone } = await readAll(client, await client.exec({ ...request, whenFull: "pause" }));
    expect(gone).toEqual([]);
    expect(answers.reduce((sum, { output }) => sum + output.length, 0)).toBe(TOTAL + 5);
    for (const { result } of answers) expect(result.range.to - result.range.from).toBeLessThan(256 * 1024);
  });

  it.each([
    [
      "spill",
      64 + 128 + 256,
      /Bytes \d+-\d+ are gone: they were not retained; beyond the first 65536 and the last 131072 bytes and 262144 bytes on disk nothing is retained \(whenFull `spill`\)/,
    ],
    [
      "drop",
      64 + 128,
      /Bytes \d+-\d+ are gone: they were not retained; this session drops what is beyond the first 65536 and the last 131072 bytes \(whenFull `drop`\)/,
    ],
    [undefined, 64 + 128 + 256, /whenFull `spill`/],
  ] as const)("tells what %s has left out, with range and reason", async (whenFull, keptKiB, reason) => {
    const client = open({ limits: { log: LOG } });
    const chosen = whenFull === undefined ? {} : { whenFull };
    const { answers, gone, text } = await readAll(
      client,
      await client.exec({ ...request, ...chosen, yieldTimeMs: 20_000 }),
    );
    expect(text).toMatch(reason);
    const dropped = gone.reduce((sum, { from, to }) => sum + to - from, 0);
    expect(answers.length).toBe(1);
    // Whole chunks are kept, at each end up to one chunk less than the bound.
    expect(TOTAL + 5 - dropped).toBeGreaterThan(keptKiB * 1024 - 2 * LARGEST_CHUNK);
    expect(TOTAL + 5 - dropped).toBeLessThan((keptKiB + 96) * 1024);
  });
});

describe("a session whose disk takes nothing", () => {
  const open = useRealHosts();

  it("tells so where output is gone", async () => {
    const client = open({ limits: { log: { ...LOG, spillDir: "/nowhere" } } });
    const { result, text } = await client.exec({ command: WRITER, yieldTimeMs: 20_000, maxOutputTokens: 1_000_000 });
    expect(result.outcome).toEqual({ kind: "exited", code: 0 });
    expect(text).toMatch(
      /Bytes \d+-\d+ are gone: they were not retained; beyond the first 65536 and the last 131072 bytes it could not be kept on disk: \/nowhere: ENOENT: /,
    );
  });
});

describe("a session whose output is acknowledged", () => {
  const open = useResumableHosts();

  it("sends no more than a window ahead of it, and pauses its program beyond", async () => {
    const { connect } = open({ limits: { log: { ...LOG, spillBytes: 0 } } });
    const client = connect();
    const { resume } = await client.initialize({ acknowledges: true });
    expect(resume?.ackBytes).toBe(32 * 1024);
    await client.send({
      type: "call_tool",
      requestId: "w",
      toolName: "exec_command",
      arguments: { ...execRequest({ command: WRITER }), whenFull: "pause" },
    });
    let acknowledged = 0;
    let processId = 0;
    for (;;) {
      // The answer may come before the last of it: the program has ended while that waits for what is received.
      const delta = await client.find((message) => message.type === "tool_output" && message.offset >= acknowledged);
      if (delta.type !== "tool_output") break;
      processId = delta.processId;
      const last = client.deltas().at(-1)!;
      const sent = last.offset + Buffer.byteLength(last.chunk, "base64");
      expect(sent - acknowledged).toBeLessThanOrEqual(64 * 1024 + 8192);
      acknowledged = sent;
      await client.send({ type: "ack", output: [{ processId, offset: acknowledged }] });
      if (acknowledged === TOTAL + 5) break;
    }
    expect(bytesOf(client.deltas()).length).toBe(TOTAL + 5);
    expect(client.deltas().map(({ offset }) => offset)).toEqual(
      [...client.deltas().map(({ offset }) => offset)].sort((a, b) => a - b),
    );
    await client.send({ type: "shutdown", requestId: "s" });
    await client.served;
  });

  it("is no further ahead of it than memory keeps, where the disk takes nothing", async () => {
    const backend = createScriptedBackend(new ManualClock());
    const log = { headBytes: 0, tailBytes: 64 * 1024, spillBytes: 4 * 1024 * 1024, spillDir: "/nowhere" };
    const client = open({ backend, limits: { log } }).connect();
    await client.initialize({ acknowledges: true });
    const answer = client.exec({ command: ["scripted"] }, "w");
    const process = await backend.started(0);
    const sent = () => bytesOf(client.deltas()).length;
    let printed = 0;
    for (; !process.paused && printed < 1024 * 1024; printed += 4096) {
      process.print("x".repeat(4096));
      await settle();
    }
    expect(process.paused).toBe(true);
    expect(sent()).toBeLessThanOrEqual(72 * 1024); // what was on its way when the disk was first asked, and one piece
    process.end(0);
    while (sent() < printed) {
      const [delta] = client.deltas();
      await client.send({ type: "ack", output: [{ processId: delta!.processId, offset: sent() }] });
      await settle();
    }
    await answer;
    expect(bytesOf(client.deltas()).length).toBe(printed);
    await client.send({ type: "shutdown", requestId: "s" });
    await client.served;
  });

  it.each([
    ["it is not to be paused", "drop", {}],
    ["the disk takes nothing", "spill", { spillBytes: 16 * 1024 * 1024, spillDir: "/nowhere" }],
  ] as const)("keeps what a lost channel swallowed, also when little is retained and %s", async (_, whenFull, disk) => {
    const { connect } = open({ limits: { log: { ...LOG, spillBytes: 0, ...disk } } });
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    const args = execRequest({ command: WRITER, whenFull });
    await first.send({ type: "call_tool", requestId: "w", toolName: "exec_command", arguments: args });
    const { processId } = await first.ofType("tool_output");
    // It acknowledges nothing: the program is held while its call waits.
    const seen = bytesOf(first.deltas()).length;
    await first.cut();
    const second = connect();
    const received = [{ processId, offset: Math.min(seen, 1_000) }];
    await second.initialize({
      resumeSessionId: sessionId,
      acknowledges: true,
      unanswered: [{ requestId: "w" }],
      received,
    });
    let offset = received[0]!.offset;
    while (offset < TOTAL + 5) {
      const delta = await second.find((message) => message.type === "tool_output" && message.offset === offset);
      if (delta.type === "tool_output") offset += Buffer.from(delta.chunk, "base64").length;
      await second.send({ type: "ack", output: [{ processId, offset }] });
    }
    await second.ofType("call_tool_response", "w");
    await second.send({ type: "shutdown", requestId: "s" });
    await second.served;
  });
});
