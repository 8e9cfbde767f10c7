// Programs write single characters, and peers send them. Each piece may take memory and time as its bytes do, not as an object does.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createMemoryChannelPair } from "@codex/channel";
import { systemClock } from "@codex/clock";
import { DEFAULT_EXECUTOR_CONNECTION_LIMITS, ProblemLog } from "@codex/executor-client";
import { expect, it } from "vitest";
import { KeptOutput } from "../../acp/src/kept-output.js";
import { OutputText } from "../../agent/src/events/output-text.js";
import { DEFAULT_CHANNEL_LIMITS } from "../../channel/src/limits.js";
import { PieceReceiver } from "../../channel/src/tunnel/piece-receiver.js";
import { HttpBody } from "../../exec-server-client/src/remote/http-body.js";
import { OutputBudget, OutputQueue } from "../../executor-client/src/connection/output-queue.js";
import { Wire } from "../../executor-client/src/connection/wire.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes that are held after `work` beyond those before it, with what it returns. */
async function measure(work: () => unknown): Promise<number> {
  const used = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  const held = await work();
  const bytes = used() - before;
  expect(held).toBeDefined();
  return bytes;
}

const PIECES = 200_000;
const MIB = 1024 * 1024;
const EXECUTOR_LIMITS = DEFAULT_EXECUTOR_CONNECTION_LIMITS;

it("pieces of an incomplete message in a tunnel", async () => {
  const bytes = await measure(() => {
    const receiver = new PieceReceiver(MIB, DEFAULT_CHANNEL_LIMITS, () => {});
    for (let index = 0; index < PIECES; index += 1) receiver.accept("x", false);
    return receiver;
  });
  expect(bytes).toBeLessThan(4 * MIB);
});

it("a message in a tunnel that is cut anywhere is complete", () => {
  const text = JSON.stringify({ text: "ä€😀x".repeat(1000) });
  for (const size of [1, 2, 7, 1000, text.length]) {
    const receiver = new PieceReceiver(64 * MIB, DEFAULT_CHANNEL_LIMITS, () => {});
    const characters = Array.from(text);
    for (let at = 0; at < characters.length; at += size) {
      receiver.accept(characters.slice(at, at + size).join(""), at + size >= characters.length);
    }
    expect(receiver.take()).toMatchObject({ kind: "value", value: JSON.parse(text) });
  }
});

it("live output that waits for a slow listener", async () => {
  const queue = new OutputQueue(
    { accept: () => true, deliver: () => new Promise(() => {}) },
    new OutputBudget(EXECUTOR_LIMITS),
    () => {},
  );
  const bytes = await measure(() => {
    for (let at = 0; at < PIECES; at += 1) {
      queue.push({ processId: 1, stream: "stdout", offset: at, seq: at + 1, bytes: Buffer.from("x") });
    }
    return queue;
  });
  expect(bytes).toBeLessThan(4 * MIB);
});

it("the output of an ACP terminal", async () => {
  const kept = new KeptOutput(MIB);
  const bytes = await measure(() => {
    for (let at = 0; at < PIECES; at += 1) kept.add(Buffer.from(String(at % 10)));
    return kept;
  });
  expect(bytes).toBeLessThan(4 * MIB);
  const small = new KeptOutput(1000);
  for (let at = 0; at < PIECES; at += 1) small.add(Buffer.from(String(at % 10)));
  expect(small.read()).toBe("0123456789".repeat(100));
  expect(small.isTruncated).toBe(true);
});

it("the output of an agent's command, in time that grows with its length", () => {
  const ms = (chars: number) => {
    const text = new OutputText(chars);
    const { user, system } = process.cpuUsage();
    for (let at = 0; at < 1.5 * chars; at += 1) text.append(".");
    const used = process.cpuUsage({ user, system });
    expect(text.toString()).toContain(`[${chars / 2} characters are not shown here]`);
    return (used.user + used.system) / 1000;
  };
  ms(50_000);
  expect(ms(400_000)).toBeLessThan(8 * ms(100_000) + 50);
});

it("the body of an HTTP response, in time that grows with its length", async () => {
  const ms = async (pieces: number) => {
    const body = new HttpBody(() => {});
    for (let seq = 1; seq <= pieces; seq += 1) void body.push(seq, Buffer.from("x"));
    body.end();
    const { user, system } = process.cpuUsage();
    let bytes = 0;
    for await (const piece of body) bytes += piece.length;
    expect(bytes).toBe(pieces);
    const used = process.cpuUsage({ user, system });
    return (used.user + used.system) / 1000;
  };
  await ms(10_000);
  expect(await ms(PIECES)).toBeLessThan(16 * (await ms(PIECES / 8)) + 100);
});

it("nothing is left of messages that were held back", async () => {
  const limits = { ...EXECUTOR_LIMITS, queuedOutputBytes: 1 };
  const [ours, its] = createMemoryChannelPair();
  const problems = new ProblemLog("x", limits);
  const options = { idPrefix: "a", onUnsolicited: () => {}, isWatchedIdle: () => false, livenessMs: 60_000 };
  const wire = new Wire({ channel: ours, clock: systemClock, limits, problems, ...options });
  void (async () => {
    while ((await its.receive()) !== undefined);
  })();
  let taken = 0;
  const deliver = async () => {
    taken += 1;
    await null;
  };
  const body = { type: "call_tool", toolName: "t", arguments: {} } as const;
  const sent = wire.request(body, {
    responseType: "call_tool_response",
    deadlineMs: 600_000,
    output: { accept: () => true, deliver },
  });
  const send = async (until: number) => {
    const piece = { type: "tool_output", requestId: sent.requestId, processId: 1000, stream: "stdout", chunk: "eA==" };
    for (let at = taken; at < until; at += 1) await its.send({ ...piece, seq: at + 1, offset: at });
    await expect.poll(() => taken).toBe(until);
  };
  await send(2_000);
  const bytes = await measure(async () => {
    await send(22_000);
    return wire;
  });
  // A message that is kept takes several hundred bytes.
  expect(bytes).toBeLessThan(100 * 20_000);
  await wire.close();
  await sent.reply;
});
