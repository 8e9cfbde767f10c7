import { expect, test } from "vitest";
import { nextValue } from "../support.js";
import type { ContractContext } from "./transport.js";

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

/** Values arrive in order and unchanged. */
export function describeValues({ transport, connect }: ContractContext): void {
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

  test("shares no objects between the ends", async () => {
    const { left, right } = await connect();
    const value = { list: [1] };
    await left.send(value);
    value.list.push(2);
    const received = await nextValue(right);
    expect(received).toEqual({ list: [1] });
    expect(received).not.toBe(value);
  });

  test("carries encoded values unchanged", async () => {
    const { left, right } = await connect();
    await left.sendEncoded(new TextEncoder().encode('{"a": [1, "é"] }'));
    await left.sendEncoded(Buffer.from(JSON.stringify("x".repeat(300_000))));
    await left.send("last");
    expect(await nextValue(right)).toEqual({ a: [1, "é"] });
    expect(await nextValue(right)).toBe("x".repeat(300_000));
    expect(await nextValue(right)).toBe("last");
  });

  test.runIf(transport.hasWire)("reports when the memory of an encoded value can be reused", async () => {
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

  test("keeps the order of many sends that are not awaited", async () => {
    const { left, right } = await connect();
    const count = 3_000;
    const sends = Array.from({ length: count }, (_, n) => {
      const value = { n, fill: "f".repeat(n % 100 === 0 ? 50_000 : n % 7) };
      return n % 3 === 0 ? left.sendEncoded(Buffer.from(JSON.stringify(value))) : left.send(value);
    });
    for (let n = 0; n < count; n++) expect(await nextValue(right)).toMatchObject({ n });
    await Promise.all(sends);
  });

  test("resolves several waiting receives in their order", async () => {
    const { left, right } = await connect();
    const waiting = [right.receive(), right.receive(), right.receive()];
    await left.send(1);
    await left.send(2);
    await left.send(3);
    expect(await Promise.all(waiting)).toEqual([1, 2, 3].map((value) => ({ kind: "value", value })));
  });
}

const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
