import type { Channel } from "@codex/channel";
import { expect, test } from "vitest";
import { drain, expectRejection, nextValue, turn, untilStill } from "../support.js";
import type { ContractContext } from "./transport.js";

/** How a channel ends. */
export function describeClosing({ transport, connect }: ContractContext): void {
  test("close delivers what was sent before it, then ends the peer", async () => {
    const { left, right } = await connect({ highWaterBytes: 64 * 1024 });
    const sends = Array.from({ length: 200 }, (_, n) => left.send({ n, fill: "c".repeat(2_000) }));
    const closing = left.close();
    for (let n = 0; n < 200; n++) expect(await nextValue(right)).toMatchObject({ n });
    expect(await right.receive()).toBeUndefined();
    expect(await right.receive()).toBeUndefined();
    await right.close();
    await closing;
    await Promise.all(sends);
    expect(await left.closed).toEqual({ kind: "closed" });
    expect((await right.closed).kind).toBe("peer_closed");
  });

  test("`await using` closes it at the end of the block", async () => {
    const { left, right } = await connect();
    {
      await using channel = left;
      void channel.send({ id: 1 });
    }
    expect(await left.closed).toEqual({ kind: "closed" });
    expect(await nextValue(right)).toEqual({ id: 1 });
    expect(await right.receive()).toBeUndefined();
  });

  test("close delivers to a peer that reads only after it has written", async () => {
    const { left, right } = await connect({ highWaterBytes: 1024, maxWaitingBytes: 1024 });
    const fill = "w".repeat(64 * 1024);
    let written = 0;
    const writing = Promise.allSettled(Array.from({ length: 128 }, () => right.send(fill).then(() => written++)));
    await untilStill(() => written);
    const sends = Promise.all(Array.from({ length: 128 }, (_, n) => left.send([n, fill])));
    const closing = left.close({ deadlineMs: 20_000 });
    await writing;
    expect(await drain(right)).toHaveLength(128);
    await right.close();
    await Promise.all([closing, sends]);
  });

  test("close ends the waiting receive and rejects every later send", async () => {
    const { left, right } = await connect();
    const waiting = left.receive();
    await right.send("not taken any more");
    const closing = left.close();
    await expectRejection(left.send(1), "closed", /closed/);
    await expectRejection(left.sendEncoded(Buffer.from("1")), "closed", /closed/);
    expect([undefined, "not taken any more"]).toContain(((await waiting) as { value?: unknown } | undefined)?.value);
    expect(await left.receive()).toBeUndefined();
    await right.close();
    await closing;
    await expectRejection(right.send(1), "closed", /closed/);
  });

  test("sends that are not awaited cause no unhandled rejection after the end", async () => {
    const { left, right } = await connect();
    await right.close({ deadlineMs: 200 });
    await left.close();
    const seen: unknown[] = [];
    const onUnhandled = (reason: unknown) => seen.push(reason);
    process.on("unhandledRejection", onUnhandled);
    void left.send(1);
    void left.sendEncoded(Buffer.from("1"));
    void right.send(undefined);
    await turn();
    process.off("unhandledRejection", onUnhandled);
    expect(seen).toEqual([]);
  });

  test("close is idempotent and never rejects, from both sides at once", async () => {
    const { left, right } = await connect();
    await Promise.all([left.close(), right.close(), left.close({ deadlineMs: 1 }), right.close()]);
    await left.close();
    expect((await left.closed).kind).toMatch(/^(peer_)?closed$/);
    expect((await right.closed).kind).toMatch(/^(peer_)?closed$/);
  });

  test("close gives up at its deadline when the peer does not read", async () => {
    const { left, right } = await connect({ highWaterBytes: 1024, maxWaitingBytes: 1024 });
    const sends = Array.from({ length: 64 }, () => left.send("d".repeat(1024 * 1024)));
    const results = Promise.allSettled(sends);
    await left.close({ deadlineMs: 1 });
    expect(await left.closed).toEqual({ kind: "closed" });
    for (const result of await results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "closed" });
    }
    await right.close({ deadlineMs: 1 });
  });

  test.skipIf(!transport.hasWire || transport.isResumed === true)(
    "a broken wire ends both sides, and rejects blocked senders (memory has no wire)",
    async () => {
      const { left, right, cut } = await connect({ highWaterBytes: 1024, maxWaitingBytes: 1024 });
      const held = Array.from({ length: 64 }, () => left.send("e".repeat(1024 * 1024)));
      const results = Promise.allSettled(held);
      await right.send("arrived");
      expect(await nextValue(left)).toBe("arrived");
      cut!();
      expect(await left.receive()).toBeUndefined();
      expect((await left.closed).kind).toMatch(/^(failed|peer_closed)$/);
      expect((await results).some((result) => result.status === "rejected")).toBe(true);
      await expectRejection(sendUntilRejected(left), "closed", /./);
      await drain(right);
      expect((await right.closed).kind).toMatch(/^(failed|peer_closed)$/);
    },
  );
}

async function sendUntilRejected(channel: Channel): Promise<void> {
  for (;;) {
    await channel.send("f".repeat(10_000));
    await turn();
  }
}
