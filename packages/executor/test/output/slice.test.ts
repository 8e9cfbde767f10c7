import { createOutputLog } from "@codex/exec-backend";
import { renderOutput } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { decodeOutput } from "../../src/output/decode-output.js";
import { findCharacterEnd, readSlice, type Slice, skipForward } from "../../src/output/slice.js";

const render = ({ range, chunks }: Slice) => renderOutput(range, decodeOutput(chunks));

type Chunk = string | Buffer | [stream: "stdout" | "stderr", text: string | Buffer];

function createLog(chunks: readonly Chunk[], limits: { headBytes?: number; tailBytes?: number } = {}) {
  const log = createOutputLog({
    headBytes: 1 << 20,
    tailBytes: 1 << 20,
    spillBytes: 0,
    spillDir: "/nowhere",
    ...limits,
  });
  for (const chunk of chunks) {
    const [stream, bytes] = Array.isArray(chunk) ? chunk : (["stdout", chunk] as const);
    log.append(stream, Buffer.from(bytes as string)); // overloads take both, but not their union
  }
  return log;
}

const show = async (chunks: readonly Chunk[], bytes: number, countedBytes = 1 << 20) => {
  const log = createLog(chunks);
  const slice = await readSlice(log, { from: 0, to: log.end }, { bytes, countedBytes });
  return { text: render(slice), omitted: slice.omitted, lines: slice.lines };
};

describe("a slice", () => {
  it.each<[string, Chunk[], number, string]>([
    ["nothing", [], 8, ""],
    ["what fits", ["hello"], 5, "hello"],
    ["several chunks", ["he", "llo"], 5, "hello"],
    ["one byte over", ["abcdefghi"], 8, "abcd…1 tokens truncated…fghi"],
    ["far over", ["a".repeat(50), "b".repeat(50)], 20, `${"a".repeat(10)}…20 tokens truncated…${"b".repeat(10)}`],
    ["an odd budget", ["abcdefghij"], 5, "ab…2 tokens truncated…hij"],
    ["a budget of nothing", ["abcdefgh"], 0, "…2 tokens truncated…"],
    ["a cut inside a character, at the head", ["aaa€bbbbbbb"], 8, "aaa…2 tokens truncated…bbbb"],
    ["a cut inside a character, at the tail", ["aaaaaaa€bbb"], 8, "aaaa…2 tokens truncated…bbb"],
    ["only characters that do not fit", ["😀😀😀"], 4, "…3 tokens truncated…"],
    ["invalid bytes", [Buffer.from([0x61, 0xff, 0x62])], 8, "a\ufffdb"],
    ["a byte order mark", ["\ufeffa"], 8, "\ufeffa"],
  ])("shows %s", async (_name, chunks, bytes, expected) => {
    expect((await show(chunks, bytes)).text).toBe(expected);
  });

  it("cuts between lines where one is near", async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${String(index).padStart(3, "0")}\n`);
    const { text, omitted, lines: count } = await show(lines, 100);
    expect(text).toBe(`${lines.slice(0, 5).join("")}…203 tokens truncated…${lines.slice(95).join("")}`);
    expect(omitted).toEqual([{ from: 45, to: 855, reason: "budget" }]);
    expect(count).toBe(100);
  });

  it.each([1, 1 << 20])("keeps a line whole that begins just where the cut is (counting up to %d)", async (counted) => {
    const { text } = await show([`${"a".repeat(99)}\n`, `${"b".repeat(60)}\n`, "cccc\n".repeat(15)], 150, counted);
    expect(text.endsWith(`…${"cccc\n".repeat(15)}`)).toBe(true);
  });

  it("does not look far for a line", async () => {
    const { omitted } = await show([`a\n${"b".repeat(996)}\nc`], 100);
    expect(omitted).toEqual([{ from: 50, to: 950, reason: "budget" }]);
  });

  it.each([
    ["a\nb\nc\nd", 4],
    ["a\nb\nc\nd\n", 4],
    ["\n\n\n\n\n\n\n", 7],
  ])("counts the lines of %j", async (text, expected) => {
    expect((await show([text], 4)).lines).toBe(expected);
  });

  it("does not read a range to count its lines that is larger than allowed", async () => {
    const log = createLog(Array.from({ length: 100 }, () => "0123456789"));
    let read = 0;
    const readLog = log.read.bind(log);
    log.read = async (from, to) => {
      const part = await readLog(from, to);
      for (const { bytes } of part.chunks) read += bytes.length;
      return part;
    };
    const slice = await readSlice(log, { from: 0, to: 1000 }, { bytes: 40, countedBytes: 999 });
    expect(slice.lines).toBeUndefined();
    expect(read).toBeLessThanOrEqual(41);
    expect(slice.omitted).toEqual([{ from: 20, to: 980, reason: "budget" }]);
  });

  it("tells a range that was evicted from one that the budget cut", async () => {
    const log = createLog(
      Array.from({ length: 25 }, (_, index) => String.fromCharCode(97 + index).repeat(4)),
      {
        headBytes: 40,
        tailBytes: 40,
      },
    );
    const all = await readSlice(log, { from: 0, to: 100 }, { bytes: 80, countedBytes: 1000 });
    expect(all.omitted).toEqual([{ from: 40, to: 60, reason: "evicted" }]);
    expect(render(all)).toContain("jjjj…5 tokens truncated…pppp");
    const cut = await readSlice(log, { from: 0, to: 100 }, { bytes: 40, countedBytes: 1000 });
    expect(cut.omitted).toEqual([
      { from: 20, to: 40, reason: "budget" },
      { from: 40, to: 60, reason: "evicted" },
      { from: 60, to: 80, reason: "budget" },
    ]);
    expect(render(cut)).toBe("aaaabbbbccccddddeeee…15 tokens truncated…uuuuvvvvwwwwxxxxyyyy");
    const beyond = await readSlice(log, { from: 44, to: 100 }, { bytes: 20, countedBytes: 1000 });
    expect(beyond.omitted).toEqual([
      { from: 44, to: 60, reason: "evicted" },
      { from: 70, to: 90, reason: "budget" },
    ]);
    expect(render(beyond)).toBe("…4 tokens truncated…ppppqqqqrr…5 tokens truncated…wwxxxxyyyy");
  });

  it("decodes each stream by itself, in the order of arrival", async () => {
    const [first, second] = [Buffer.from("€").subarray(0, 2), Buffer.from("€").subarray(2)];
    const chunks: Chunk[] = [
      ["stdout", Buffer.concat([Buffer.from("a"), first])],
      ["stderr", "E"],
      ["stdout", Buffer.concat([second, Buffer.from("b")])],
    ];
    expect((await show(chunks, 100)).text).toBe("aE€b");
  });
});

describe("the end of the characters", () => {
  it.each<[string, Chunk[], number]>([
    ["whole characters", ["a€"], 4],
    ["the beginning of one", [Buffer.from("a€").subarray(0, 3)], 1],
    ["one that came in pieces", [Buffer.from([0xf0]), Buffer.from([0x9f]), Buffer.from([0x98])], 0],
    [
      "bytes of two streams",
      [
        ["stdout", Buffer.from([0xe2])],
        ["stderr", Buffer.from([0x82])],
      ],
      2,
    ],
    [
      "the other stream's beginning",
      [
        ["stdout", "a"],
        ["stderr", Buffer.from([0xe2, 0x82])],
      ],
      1,
    ],
    ["nothing", [], 0],
  ])("of %s", async (_name, chunks, expected) => {
    const log = createLog(chunks);
    expect(await findCharacterEnd(log, 0, log.end)).toBe(expected);
  });
});

describe("skipping what is gone", () => {
  it.each([
    [0, 10, [], 10],
    [0, 10, [{ from: 4, to: 8 }], 14],
    [4, 10, [{ from: 4, to: 8 }], 18],
    [0, 4, [{ from: 4, to: 8 }], 4],
    [6, 2, [{ from: 4, to: 8 }], 10],
  ])("from %d over %d bytes", (from, bytes, evicted, expected) => {
    expect(skipForward(from, bytes, evicted)).toBe(expected);
  });
});
