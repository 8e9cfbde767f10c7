import { setImmediate as nextTurn } from "node:timers/promises";
import { createMemoryChannelPair } from "@codex/channel";
import { createFileSystem, type FileSystem } from "@codex/host-files";
import { describe, expect, it } from "vitest";
import { ByteBudget } from "../../src/connection/byte-budget.js";
import { MAX_RESPONSE_BYTES } from "../../src/limits.js";
import { useServer } from "../support.js";

describe("a budget of bytes", () => {
  it("is taken in the order of the calls, and never more than there is but by one alone", async () => {
    const budget = new ByteBudget(10);
    const first = await budget.take(6);
    const order: string[] = [];
    const take = async (bytes: number, name: string) => {
      const release = await budget.take(bytes);
      order.push(name);
      return release;
    };
    const second = take(6, "second");
    const third = take(1, "third");
    expect(await budget.take(1, 1)).toBeUndefined();
    expect(order).toEqual([]);
    first?.();
    first?.(); // a second time changes nothing
    (await second)?.();
    (await third)?.();
    expect(order).toEqual(["second", "third"]);
    const large = await budget.take(100);
    expect(await budget.take(1, 1)).toBeUndefined();
    large?.();
    expect(await budget.take(10, 1)).toBeDefined();
  });
});

describe("answers with large files", () => {
  /** How many were read at once, and in all. */
  const reads = { now: 0, most: 0, all: 0 };
  const real = createFileSystem();
  const fileSystem: FileSystem = {
    createConnectionFileSystem: (options) => ({
      ...real.createConnectionFileSystem(options),
      async readFile(_params, reserve) {
        await reserve?.(MAX_RESPONSE_BYTES);
        reads.now += 1;
        reads.all += 1;
        reads.most = Math.max(reads.most, reads.now);
        await nextTurn();
        reads.now -= 1;
        return Buffer.alloc(2 * 1024 * 1024);
      },
    }),
  };
  const server = useServer({ fileSystem });

  it("are made one by one, each when the client has read the one before", async () => {
    const [near, far] = createMemoryChannelPair();
    const served = (await server.get()).serve(far, { transport: { kind: "websocket", peer: "192.0.2.1:5" } });
    void near.send({ id: 1, method: "initialize", params: { clientName: "x" } });
    void near.send({ method: "initialized" });
    await near.receive();
    for (let id = 2; id < 8; id += 1) void near.send({ id, method: "fs/readFile", params: { path: "file:///x" } });
    for (let answered = 0; answered < 6; answered += 1) {
      while (reads.all <= answered) await nextTurn();
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      expect(reads.all).toBe(answered + 1);
      await near.receive();
    }
    expect(reads.most).toBe(1);
    await near.close();
    await served;
  });
});
