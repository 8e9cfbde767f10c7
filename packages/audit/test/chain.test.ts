import { describe, expect, it } from "vitest";
import { encodeRecords, GENESIS, parseRecord, sha256, type TimedEvent } from "../src/chain.js";
import { MAX_AUDIT_RECORD_BYTES } from "../src/limits.js";
import { ChainVerifier } from "../src/verify.js";

const event = (call: string): TimedEvent => ({ at: 0, event: { type: "result", call, status: "success" } });
const lines = (count: number) =>
  encodeRecords(
    GENESIS,
    Array.from({ length: count }, (_, index) => event(`c${index + 1}`)),
  )
    .text.trimEnd()
    .split("\n");

function verify(all: readonly string[], knownHead?: { seq: number; hash: string }) {
  const verifier = new ChainVerifier(knownHead);
  for (const line of all) verifier.add(line);
  return verifier.result;
}

describe("a chain", () => {
  it("consists of lines that carry the hash of the previous line", () => {
    const [first = "", second = ""] = lines(2);
    expect(first).toBe(
      `{"v":1,"seq":1,"time":"1970-01-01T00:00:00.000Z","prev":"${"0".repeat(64)}","type":"result","call":"c1","status":"success"}`,
    );
    expect(parseRecord(second)?.prev).toBe(sha256(first));
  });

  it("is the same however its events were split into writes", () => {
    const [one, two] = [encodeRecords(GENESIS, [event("a")]), encodeRecords(GENESIS, [event("a"), event("b")])];
    expect(one.text + encodeRecords(one.head, [event("b")]).text).toBe(two.text);
    expect(verify(lines(3))).toMatchObject({ kind: "intact", records: 3, head: { seq: 3 } });
  });

  const tampered: [string, (all: string[]) => string[], number, RegExp][] = [
    [
      "edited",
      (all) => all.with(2, (all[2] ?? "").replace("success", "denied!")),
      4,
      /record 4 does not carry the hash of record 3/,
    ],
    [
      "re-linked",
      (all) => all.with(3, (all[3] ?? "").replace(/"prev":"\w/, '"prev":"f')),
      4,
      /record 4 does not carry the hash/,
    ],
    ["deleted", (all) => all.toSpliced(2, 1), 3, /record 4 follows record 2; expected record 3/],
    ["deleted at the beginning", (all) => all.slice(1), 1, /record 2 is the first/],
    ["inserted", (all) => all.toSpliced(2, 0, all[1] ?? ""), 3, /record 2 follows record 2; expected record 3/],
    ["inserted text", (all) => all.toSpliced(2, 0, "x"), 3, /not a record/],
    ["reordered", (all) => all.with(1, all[2] ?? "").with(2, all[1] ?? ""), 2, /record 3 follows record 1/],
    ["made of nothing", (all) => all.with(1, "{}"), 2, /not a record/],
  ];
  it.each(tampered)("that was %s is broken, and tells where", (_name, change, line, reason) => {
    expect(verify(change(lines(5)))).toEqual({ kind: "broken", line, reason: expect.stringMatching(reason) });
  });

  it("that lost its end is broken when its head is known", () => {
    const all = lines(5);
    const knownHead = { seq: 5, hash: sha256(all[4] ?? "") };
    expect(verify(all, knownHead).kind).toBe("intact");
    expect(verify(all.slice(0, 3))).toMatchObject({ kind: "intact", records: 3 });
    expect(verify(all.slice(0, 3), knownHead)).toMatchObject({
      kind: "broken",
      line: 4,
      reason: /ends with record 3, and record 5/,
    });
    expect(verify(all, { seq: 2, hash: "f".repeat(64) })).toMatchObject({ kind: "broken", line: 2 });
  });

  it("continues after a torn line only when the next record marks it", () => {
    const [first = "", second = ""] = lines(2);
    const head = { seq: 2, hash: sha256(second) };
    const torn = '{"v":1,"se';
    const marked = encodeRecords(head, [
      { at: 0, event: { type: "torn", bytes: torn.length, sha256: sha256(torn) } },
    ]).text;
    expect(verify([first, second, torn, marked.trimEnd()])).toMatchObject({ kind: "intact", records: 3, torn: 1 });
    expect(verify([first, second, `${torn}x`, marked.trimEnd()])).toMatchObject({ kind: "broken", line: 3 });
    expect(verify([first, second, torn])).toMatchObject({ kind: "broken", line: 3 });
  });

  it("has records of at most 16 KiB", () => {
    const rules = Array.from({ length: 40 }, () => ({ decision: "allow" as const, rule: "r".repeat(1000) }));
    const { text } = encodeRecords(GENESIS, [
      { at: 0, event: { type: "call", call: "c", tool: "t", runs: true, rules } },
    ]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_AUDIT_RECORD_BYTES);
    expect(parseRecord(text)).toMatchObject({ call: "c", cut: true });
  });
});
