import { expect, test } from "vitest";
import { expectRejection, nextValue } from "../support.js";
import type { ContractContext } from "./transport.js";

const NOT_UTF8: [Buffer, RegExp][] = [
  [Buffer.from([0x22, 0xc3, 0x28, 0x22]), /not valid UTF-8/],
  [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /not valid UTF-8/],
];

/** Values over a limit, and frames that are not JSON. */
export function describeLimits({ transport, connect }: ContractContext): void {
  const { isTextOnly = false } = transport;

  test("accepts a message at the limit and rejects one byte more, in bytes of UTF-8", async () => {
    const { left, right } = await connect({ maxMessageBytes: 1_000 });
    await left.send("é".repeat(499));
    await expectRejection(left.send(`${"é".repeat(499)}x`), "too_large", /1001 bytes.*1000 bytes/);
    await expectRejection(left.sendEncoded(Buffer.alloc(1_001, 0x20)), "too_large", /1001 bytes.*1000 bytes/);
    await left.send("still open");
    expect(await nextValue(right)).toBe("é".repeat(499));
    expect(await nextValue(right)).toBe("still open");
  });

  test("carries 64 MiB by default and rejects one byte more", async () => {
    const { left, right } = await connect();
    const text = "m".repeat(64 * 1024 * 1024 - 2);
    await expectRejection(left.send(`${text}m`), "too_large", /67108865 bytes.*67108864 bytes/);
    const sent = left.send(text);
    expect((await nextValue(right)) === text).toBe(true);
    await sent;
  });

  test("accepts nesting at the limit and rejects one level more", async () => {
    const { left, right } = await connect({ maxDepth: 5 });
    await left.send(nest(5));
    await expectRejection(left.send(nest(6)), "too_deep", /5 levels/);
    await expectRejection(left.send(nest(200_000)), "too_deep", /deeper/);
    await left.send(["[[[[[[", '{"{{{{{\\"[']);
    expect(await nextValue(right)).toEqual(nest(5));
    expect(await nextValue(right)).toEqual(["[[[[[[", '{"{{{{{\\"[']);
  });

  test("accepts as many values as the limit and rejects more", async () => {
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

  test("rejects values without a JSON form and stays open", async () => {
    const { left, right } = await connect();
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const value of [undefined, () => 1, 1n, cycle, Symbol("s")]) {
      await expectRejection(left.send(value), "unserializable", /no JSON form/);
    }
    await left.send("still open");
    expect(await nextValue(right)).toBe("still open");
  });

  test.skipIf(transport.isStrict === true)("reports malformed frames in their place and stays open", async () => {
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
}

function nest(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = level % 2 === 0 ? [value] : { v: value };
  return value;
}
