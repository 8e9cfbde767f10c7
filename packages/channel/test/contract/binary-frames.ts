import { expect, test } from "vitest";
import { expectRejection, nextFrame, nextValue, untilStill } from "../support.js";
import type { ContractContext } from "./transport.js";

/** Binary frames between the values. */
export function describeBinaryFrames({ transport, connect }: ContractContext): void {
  const { isTextOnly = false, isStrict = false } = transport;

  test.skipIf(isTextOnly)("carries binary frames between values, in order, whole or in parts", async () => {
    const { left, right } = await connect();
    right.binary?.accept();
    const sizes = [0, 1, 5, 4_000, 65_536, 1_000_000, 3];
    const sends: Promise<void>[] = [];
    for (const [n, size] of sizes.entries()) {
      sends.push(left.binary!.send(Buffer.from(`head ${n}\n\0`), Buffer.alloc(size, `\n${n}\0{`)));
      sends.push(left.send({ n }));
    }
    for (const [n, size] of sizes.entries()) {
      const { head, body } = await nextFrame(right);
      expect(head.toString()).toBe(`head ${n}\n\0`);
      expect(body.equals(Buffer.alloc(size, `\n${n}\0{`))).toBe(true);
      expect(await nextValue(right)).toEqual({ n });
    }
    await Promise.all(sends);
  });

  // A strict one has ended by then.
  test.skipIf(isTextOnly || isStrict)(
    "distinguishes a binary frame from JSON that is malformed or was sent as bytes",
    async () => {
      const { left, right } = await connect();
      right.binary?.accept();
      await left.sendEncoded(Buffer.from(" \0"));
      await left.binary!.send(Buffer.from("h"), Buffer.from('{"a":1}'));
      await left.sendEncoded(Buffer.from("[1]"));
      expect(await right.receive()).toMatchObject({ kind: "malformed" });
      expect((await nextFrame(right)).body.toString()).toBe('{"a":1}');
      expect(await nextValue(right)).toEqual([1]);
    },
  );

  test.skipIf(isTextOnly)("reports binary frames as malformed where they were not accepted", async () => {
    const { left, right } = await connect();
    await left.binary!.send(Buffer.from("head"), Buffer.from("body"));
    await left.sendEncoded(Buffer.from(transport.name === "stdio" ? "" : "1"));
    expect(await right.receive()).toMatchObject({ kind: "malformed" });
  });

  test.skipIf(isTextOnly)("rejects a binary frame over a limit and stays open", async () => {
    const { left, right } = await connect({ maxMessageBytes: 1_000 });
    right.binary?.accept();
    const head = Buffer.from("h");
    await expectRejection(left.binary!.send(head, Buffer.alloc(1_001)), "too_large", /1000 bytes/);
    await expectRejection(left.binary!.send(Buffer.alloc(65_536), head), "too_large", /head.*65536.*65535 bytes/);
    await left.binary!.send(head, Buffer.alloc(900, "x"));
    expect((await nextFrame(right)).body.toString()).toBe("x".repeat(900));
  });

  test.skipIf(isTextOnly)("blocks a sender of binary frames while the receiver takes nothing", async () => {
    const { left, right } = await connect({ highWaterBytes: 256 * 1024, maxWaitingBytes: 256 * 1024 });
    right.binary?.accept();
    const total = 512;
    let accepted = 0;
    const sending = (async () => {
      for (let n = 0; n < total; n++) {
        await left.binary!.send(Buffer.from([n & 0xff]), Buffer.alloc(64 * 1024, n));
        accepted++;
      }
    })();
    await untilStill(() => accepted);
    expect(accepted * 64 * 1024).toBeLessThan(12 * 1024 * 1024);
    for (let n = 0; n < total; n++) {
      const { head, body } = await nextFrame(right);
      expect([head[0], body.equals(Buffer.alloc(64 * 1024, n))]).toEqual([n & 0xff, true]);
    }
    await sending;
  });

  test.runIf(transport.hasWire && !isTextOnly)("reports when the memory of a binary frame can be reused", async () => {
    const { left, right } = await connect();
    right.binary?.accept();
    for (const length of [1, 300_000]) {
      const body = Buffer.alloc(length, "b");
      const received = nextFrame(right);
      await new Promise<void>((resolve) => {
        void left.binary!.send(Buffer.from("h"), body, resolve);
      });
      body.fill(0);
      expect((await received).body.equals(Buffer.alloc(length, "b"))).toBe(true);
    }
  });
}
