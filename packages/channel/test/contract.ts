// One body of behaviour that every channel has to show; it is long because it is run as a whole over each of them.

import type { Channel, ChannelLimits } from "@codex/channel";
import { afterEach, describe, expect, test } from "vitest";
import { drain, expectRejection, nextFrame, nextValue, turn, untilStill } from "./support.js";

/** Two connected ends. `cut` breaks the wire between them without a word; a memory pair has no wire. */
export interface Pair {
  left: Channel;
  right: Channel;
  cut?: () => void;
  dispose: () => Promise<void>;
}

export interface Transport {
  name: string;
  open: (limits?: Partial<ChannelLimits>) => Promise<Pair>;
  hasWire: boolean;
  /** It carries JSON text alone: no binary frames, and no bytes that are not UTF-8. */
  isTextOnly?: boolean;
}

const NASTY: readonly unknown[] = [
  null,
  0,
  -1.5e300,
  "",
  '\u0000\u001f\u007f\u2028\u2029\r\n\t"\\/',
  "\ud800 alone, 😀 paired, é, 漢字",
  [[], {}, [[]], [{}]],
  { "": { "": "" }, "a.b": ["}", "]", '"', '\\"{['] },
  JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
  { id: 9007199254740991, method: "x".repeat(70_000) },
  ["é".repeat(200_000)],
];

const NOT_UTF8: [Buffer, RegExp][] = [
  [Buffer.from([0x22, 0xc3, 0x28, 0x22]), /not valid UTF-8/],
  [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /not valid UTF-8/],
];

/** What every channel does, whatever carries it. */
export function describeChannel(transport: Transport): void {
  describe(`channel over ${transport.name}`, () => {
    const open: Pair[] = [];
    const { isTextOnly = false } = transport;
    const connect = async (limits?: Partial<ChannelLimits>): Promise<Pair> => {
      const pair = await transport.open(limits);
      open.push(pair);
      return pair;
    };
    afterEach(async () => {
      for (const pair of open.splice(0)) await pair.dispose();
    });

    test("carries every value in order, in both directions", async () => {
      const { left, right } = await connect();
      for (const [from, to] of [
        [left, right],
        [right, left],
      ] as const) {
        const sending = NASTY.map((value) => from.send(value));
        for (const value of NASTY) expect(await to.receive()).toEqual({ kind: "value", value: wire(value) });
        await Promise.all(sending);
      }
    });

    test("lets everything else have its turn while what came together is worked on", async () => {
      const { left, right } = await connect();
      const sending = Array.from({ length: 40 }, (_, index) => left.send(index));
      let turns = 0;
      const count = () => {
        turns += 1;
        counting = setImmediate(count);
      };
      let counting = setImmediate(count);
      for (let index = 0; index < 40; index += 1) {
        expect(await nextValue(right)).toBe(index);
        const until = performance.now() + 1;
        while (performance.now() < until);
      }
      clearImmediate(counting);
      expect(turns).toBeGreaterThanOrEqual(10);
      await Promise.all(sending);
      // What had arrived is delivered after the end as well.
      for (let index = 0; index < 20; index += 1) void left.send(index);
      await left.close();
      for (let index = 0; index < 20; index += 1) {
        expect(await nextValue(right)).toBe(index);
        const until = performance.now() + 0.5;
        while (performance.now() < until);
      }
      expect(await right.receive()).toBeUndefined();
    });

    test("shares nothing between the ends", async () => {
      const { left, right } = await connect();
      const value = { list: [1] };
      await left.send(value);
      value.list.push(2);
      const received = await nextValue(right);
      expect(received).toEqual({ list: [1] });
      expect(received).not.toBe(value);
    });

    test("carries encoded values as they are", async () => {
      const { left, right } = await connect();
      await left.sendEncoded(new TextEncoder().encode('{"a": [1, "é"] }'));
      await left.sendEncoded(Buffer.from(JSON.stringify("x".repeat(300_000))));
      await left.send("last");
      expect(await nextValue(right)).toEqual({ a: [1, "é"] });
      expect(await nextValue(right)).toBe("x".repeat(300_000));
      expect(await nextValue(right)).toBe("last");
    });

    test.runIf(transport.hasWire)("says when the memory of an encoded value is free", async () => {
      const { left, right } = await connect();
      for (const length of [1, 300_000]) {
        const json = Buffer.from(JSON.stringify("x".repeat(length)));
        const received = nextValue(right);
        await new Promise<void>((resolve) => {
          void left.sendEncoded(json, resolve);
        });
        json.fill(0);
        expect(await received).toBe("x".repeat(length));
      }
    });

    test("keeps the order of many sends that nobody awaits", async () => {
      const { left, right } = await connect();
      const count = 3_000;
      const sends = Array.from({ length: count }, (_, n) => {
        const value = { n, fill: "f".repeat(n % 100 === 0 ? 50_000 : n % 7) };
        return n % 3 === 0 ? left.sendEncoded(Buffer.from(JSON.stringify(value))) : left.send(value);
      });
      for (let n = 0; n < count; n++) expect(await nextValue(right)).toMatchObject({ n });
      await Promise.all(sends);
    });

    test("answers several waiting receives in their order", async () => {
      const { left, right } = await connect();
      const waiting = [right.receive(), right.receive(), right.receive()];
      await left.send(1);
      await left.send(2);
      await left.send(3);
      expect(await Promise.all(waiting)).toEqual([1, 2, 3].map((value) => ({ kind: "value", value })));
    });

    test("takes a message of the limit and refuses one byte more, in bytes of UTF-8", async () => {
      const { left, right } = await connect({ maxMessageBytes: 1_000 });
      await left.send("é".repeat(499));
      await expectRejection(left.send(`${"é".repeat(499)}x`), "too_large", /1001 bytes.*1000 bytes/);
      await expectRejection(left.sendEncoded(Buffer.alloc(1_001, 0x20)), "too_large", /1001 bytes.*1000 bytes/);
      await left.send("still open");
      expect(await nextValue(right)).toBe("é".repeat(499));
      expect(await nextValue(right)).toBe("still open");
    });

    test("carries 64 MiB by default and refuses one byte more", async () => {
      const { left, right } = await connect();
      const text = "m".repeat(64 * 1024 * 1024 - 2);
      await expectRejection(left.send(`${text}m`), "too_large", /67108865 bytes.*67108864 bytes/);
      const sent = left.send(text);
      expect((await nextValue(right)) === text).toBe(true);
      await sent;
    });

    test("takes nesting of the limit and refuses one level more", async () => {
      const { left, right } = await connect({ maxDepth: 5 });
      await left.send(nest(5));
      await expectRejection(left.send(nest(6)), "too_deep", /5 levels/);
      await expectRejection(left.send(nest(200_000)), "too_deep", /deeper/);
      await left.send(["[[[[[[", '{"{{{{{\\"[']);
      expect(await nextValue(right)).toEqual(nest(5));
      expect(await nextValue(right)).toEqual(["[[[[[[", '{"{{{{{\\"[']);
    });

    test("takes as many values as the limit and refuses more", async () => {
      const { left, right } = await connect({ maxValues: 1_000 });
      await left.send(Array.from({ length: 1_000 }, () => 0));
      await left.send([",".repeat(5_000)]);
      await expectRejection(left.send(Array.from({ length: 1_001 }, () => 0)), "too_many_values", /1000 values/);
      await left.sendEncoded(Buffer.from(`[${"[],".repeat(600)}0]`));
      await left.send("still open");
      expect(await nextValue(right)).toHaveLength(1_000);
      expect(await nextValue(right)).toHaveLength(1);
      expect(await right.receive()).toEqual({ kind: "malformed", problem: "message has more than 1000 values" });
      expect(await nextValue(right)).toBe("still open");
    });

    test("refuses values without a JSON form and stays open", async () => {
      const { left, right } = await connect();
      const cycle: { self?: unknown } = {};
      cycle.self = cycle;
      for (const value of [undefined, () => 1, 1n, cycle, Symbol("s")]) {
        await expectRejection(left.send(value), "unserializable", /no JSON form/);
      }
      await left.send("still open");
      expect(await nextValue(right)).toBe("still open");
    });

    test("reports malformed frames in their place and goes on", async () => {
      const { left, right } = await connect({ maxDepth: 10 });
      const frames: [Buffer, RegExp][] = [
        [Buffer.from("{"), /1 bytes is not valid JSON/],
        [Buffer.from('{"a":1}}'), /not valid JSON/],
        [Buffer.from('{"token":secret}'), /not valid JSON/],
        ...(isTextOnly ? [] : NOT_UTF8),
        [Buffer.from(`${"[".repeat(11)}${"]".repeat(11)}`), /deeper than 10 levels/],
        [Buffer.from(`{"s":"]]]]\\"]]","a":${"[".repeat(700)}`), /deeper than 10 levels/],
      ];
      for (const [frame] of frames) {
        await left.sendEncoded(frame);
        await left.send("good");
      }
      for (const [, problem] of frames) {
        const received = await right.receive();
        expect(received).toEqual({ kind: "malformed", problem: expect.stringMatching(problem) });
        expect(JSON.stringify(received)).not.toContain("secret");
        expect(await nextValue(right)).toBe("good");
      }
    });

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

    test.skipIf(isTextOnly)("tells a binary frame from JSON that is malformed or came as bytes", async () => {
      const { left, right } = await connect();
      right.binary?.accept();
      await left.sendEncoded(Buffer.from(" \0"));
      await left.binary!.send(Buffer.from("h"), Buffer.from('{"a":1}'));
      await left.sendEncoded(Buffer.from("[1]"));
      expect(await right.receive()).toMatchObject({ kind: "malformed" });
      expect((await nextFrame(right)).body.toString()).toBe('{"a":1}');
      expect(await nextValue(right)).toEqual([1]);
    });

    test.skipIf(isTextOnly)("reports binary frames as malformed where they were not accepted", async () => {
      const { left, right } = await connect();
      await left.binary!.send(Buffer.from("head"), Buffer.from("body"));
      await left.sendEncoded(Buffer.from(transport.name === "stdio" ? "" : "1"));
      expect(await right.receive()).toMatchObject({ kind: "malformed" });
    });

    test.skipIf(isTextOnly)("refuses a binary frame over a limit and stays open", async () => {
      const { left, right } = await connect({ maxMessageBytes: 1_000 });
      right.binary?.accept();
      const head = Buffer.from("h");
      await expectRejection(left.binary!.send(head, Buffer.alloc(1_001)), "too_large", /1000 bytes/);
      await expectRejection(left.binary!.send(Buffer.alloc(65_536), head), "too_large", /head.*65536.*65535 bytes/);
      await left.binary!.send(head, Buffer.alloc(900, "x"));
      expect((await nextFrame(right)).body.toString()).toBe("x".repeat(900));
    });

    test.skipIf(isTextOnly)("holds a sender of binary frames back while the receiver takes nothing", async () => {
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

    test.runIf(transport.hasWire && !isTextOnly)("says when the memory of a binary frame is free", async () => {
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

    test("holds the sender back while the receiver takes nothing", async () => {
      const { left, right } = await connect({ highWaterBytes: 256 * 1024, maxWaitingBytes: 256 * 1024 });
      const total = 1_024;
      const fill = "b".repeat(64 * 1024);
      let accepted = 0;
      const sending = (async () => {
        for (let n = 0; n < total; n++) {
          await left.send({ n, fill });
          accepted++;
        }
      })();
      await untilStill(() => accepted);
      // 64 MiB were offered. What is taken without a reader: both queues, and the buffers of the system between them.
      expect(accepted * fill.length).toBeLessThan(12 * 1024 * 1024);
      for (let n = 0; n < total; n++) expect(await nextValue(right)).toMatchObject({ n });
      await sending;
    });

    test("holds back a sender of many small messages", async () => {
      const { left, right } = await connect({ highWaterBytes: 64 * 1024, maxWaitingMessages: 16 });
      const total = 100_000;
      const fill = "s".repeat(300);
      let accepted = 0;
      let stopped = false;
      const sending = (async () => {
        for (let n = 0; n < total && !stopped; n++) {
          await left.send([n, fill]);
          accepted++;
          if (n % 1_000 === 0) await turn();
        }
      })();
      await untilStill(() => accepted);
      expect(accepted).toBeLessThan(total);
      stopped = true;
      let taken = 0;
      while (taken < accepted) expect(await nextValue(right)).toEqual([taken++, fill]);
      await sending;
    });

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

    test("is closed at the end of the block that holds it with `await using`", async () => {
      const { left, right } = await connect();
      {
        await using channel = left;
        void channel.send({ id: 1 });
      }
      expect(await left.closed).toEqual({ kind: "closed" });
      expect(await nextValue(right)).toEqual({ id: 1 });
      expect(await right.receive()).toBeUndefined();
    });

    test("close gets through to a peer that reads only once it has written", async () => {
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

    test("close ends the waiting receive and every send after it", async () => {
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

    test("sends that nobody awaits do no harm after the end", async () => {
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

    test.skipIf(!transport.hasWire)(
      "a cut wire ends both sides, and frees held senders (memory has no wire)",
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
  });
}

async function sendUntilRejected(channel: Channel): Promise<void> {
  for (;;) {
    await channel.send("f".repeat(10_000));
    await turn();
  }
}

const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function nest(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = level % 2 === 0 ? [value] : { v: value };
  return value;
}
