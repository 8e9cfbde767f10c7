import { setImmediate as nextTurn } from "node:timers/promises";
import { createMemoryChannelPair, EncodedResponse } from "@codex/channel";
import { expect, it } from "vitest";
import { ByteBudget } from "../../src/connection/byte-budget.js";
import { PacedChannel } from "../../src/connection/paced-channel.js";
import { ResponseMemory } from "../../src/connection/response-memory.js";

const MIB = 1024 * 1024;

function open(capacity: number) {
  const [near, far] = createMemoryChannelPair();
  const channel = new PacedChannel(near);
  const connection = new ByteBudget(capacity);
  return {
    channel,
    far,
    connection,
    memory: new ResponseMemory(channel, { connection, total: new ByteBudget(capacity) }),
  };
}

it("admits responses as far as there is memory, and the next when one was sent", async () => {
  const { memory } = open(8 * MIB);
  const admitted: EncodedResponse[] = [];
  const answers = Array.from({ length: 9 }, () =>
    memory.run(async (reserve) => {
      await reserve(MIB);
      const response = new EncodedResponse(() => Buffer.alloc(0));
      admitted.push(response);
      return response;
    }),
  );
  const sent = (await Promise.all(answers.slice(0, 8))) as EncodedResponse[];
  await nextTurn(); // Nothing here waits for more than microtasks.
  expect(admitted).toHaveLength(8);
  sent[0]?.encode(1);
  await answers[8];
  expect(admitted).toHaveLength(9);
});

it("gives up a response whose request is cancelled while the client does not read", async () => {
  const { memory, channel, far, connection } = open(MIB);
  void channel.send("x".repeat(32 * MIB)).catch(() => {});
  const cancel = new AbortController();
  const answer = memory.run(async (reserve) => {
    await reserve(MIB, cancel.signal);
    throw new Error("cancelled");
  });
  const refused = expect(answer).rejects.toThrow("cancelled");
  await nextTurn();
  cancel.abort();
  await refused;
  expect(await connection.take(MIB, { waitMs: 0 })).toBeDefined();
  await far.close();
});
