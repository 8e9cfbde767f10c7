import { randomInt } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createCastEncoder } from "../src/asciicast.js";
import { createSessionRecording } from "../src/session-recording.js";
import { dataOf, parseCast } from "./cast.js";

const HEADER = { size: { rows: 24, cols: 80 }, startedAt: 1_700_000_000_900, command: "make" };
const bytes = (text: string) => Buffer.from(text);

function encode(play: (encoder: ReturnType<typeof createCastEncoder>) => string[]) {
  const encoder = createCastEncoder();
  return parseCast(encoder.header(HEADER) + play(encoder).join(""));
}

describe("an asciicast", () => {
  it("begins with a header, and its times are intervals that do not drift", () => {
    const cast = encode((encoder) =>
      Array.from({ length: 1000 }, (_, index) => encoder.output("pty", bytes("x"), (index + 1) / 3)),
    );
    expect(cast.header).toEqual({
      version: 3,
      term: { cols: 80, rows: 24 },
      timestamp: 1_700_000_000,
      command: "make",
    });
    const total = cast.events.reduce((sum, { interval }) => sum + interval, 0);
    expect(total).toBeCloseTo(1 / 3, 5);
  });

  it("has every kind of event", () => {
    const { events } = encode((encoder) => [
      encoder.output("pty", bytes('\u001b[31m"\\\u0000\u2028\n'), 100),
      encoder.input(bytes("\u0003"), 150),
      encoder.resize({ rows: 30, cols: 90 }, 150),
      encoder.marker("here", 1),
      encoder.end(130, 1_150),
    ]);
    expect(events).toEqual([
      { interval: 0.1, code: "o", data: '\u001b[31m"\\\u0000\u2028\n' },
      { interval: 0.05, code: "i", data: "\u0003" },
      { interval: 0, code: "r", data: "90x30" },
      { interval: 0, code: "m", data: "here" },
      { interval: 1, code: "x", data: "130" },
    ]);
  });

  it("does not invent an end", () => {
    expect(encode((encoder) => [encoder.output("pty", bytes("x"), 1), encoder.end(undefined, 2)]).events).toHaveLength(
      1,
    );
  });

  it("waits for the rest of a character, for each stream by itself", () => {
    const euro = bytes("€");
    const { events } = encode((encoder) => [
      encoder.output("stdout", euro.subarray(0, 1), 1),
      encoder.output("stderr", bytes("é").subarray(0, 1), 2),
      encoder.output("stdout", euro.subarray(1), 3),
      encoder.output("stderr", bytes("é").subarray(1), 4),
    ]);
    expect(events.map(({ data }) => data)).toEqual(["€", "é"]);
  });

  it("replaces bytes that are no text, at the end and at a gap too", () => {
    const cast = encode((encoder) => [
      encoder.output("pty", Buffer.from([0xff, 0x41, 0xe2, 0x82]), 1),
      encoder.marker("gap", 2),
      encoder.output("pty", Buffer.from([0xac, 0xc3]), 3),
      encoder.end(0, 4),
    ]);
    expect(cast.events.map(({ code, data }) => code + data)).toEqual([
      "o\ufffdA",
      "o\ufffd",
      "mgap",
      "o\ufffd",
      "o\ufffd",
      "x0",
    ]);
  });

  it.each([
    [["a\nb\r\n\n"], "a\r\nb\r\n\r\n"],
    [["a\r", "\nb\n"], "a\r\nb\r\n"],
    [["\n", "\n", "\r\n", "\r\r\n"], "\r\n\r\n\r\n\r\r\n"],
  ])("ends lines of a program on pipes as a terminal does: %j", (pieces, expected) => {
    expect(
      dataOf(
        encode((encoder) => pieces.map((piece) => encoder.output("stdout", bytes(piece), 1))),
        "o",
      ),
    ).toBe(expected);
    expect(
      dataOf(
        encode((encoder) => pieces.map((piece) => encoder.output("pty", bytes(piece), 1))),
        "o",
      ),
    ).toBe(pieces.join(""));
  });

  it("has the same text however its bytes were cut", () => {
    const whole = Buffer.concat(
      Array.from({ length: 2000 }, () => (randomInt(8) === 0 ? Buffer.from([randomInt(256)]) : bytes("a€\r\n🙂é"))),
    );
    for (const stream of ["pty", "stdout"] as const) {
      const expected = dataOf(
        encode((encoder) => [encoder.output(stream, whole, 1), encoder.end(0, 2)]),
        "o",
      );
      const cut = encode((encoder) => {
        const lines: string[] = [];
        for (let at = 0; at < whole.length; ) {
          const to = at + 1 + randomInt(7);
          lines.push(encoder.output(stream, whole.subarray(at, to), at));
          at = to;
        }
        return [...lines, encoder.end(0, whole.length)];
      });
      expect(dataOf(cut, "o")).toBe(expected);
    }
  });
});

describe("a recording of a session", () => {
  const part = {
    sessionId: 1000,
    command: ["sh", "-c", "a b"],
    tty: true,
    startedAt: 1_700_000_000_000,
    closed: false,
    outcome: { kind: "running" as const },
    size: { rows: 5, cols: 10 },
    gone: [],
    resizes: [],
    end: 10,
  };
  const chunk = (offset: number, at: number, text: string) => ({
    offset,
    at,
    stream: "pty" as const,
    data: bytes(text).toString("base64"),
  });
  const resize = (seq: number, offset: number, at: number, cols: number) => ({
    seq,
    offset,
    at,
    size: { rows: 5, cols },
  });

  it("puts sizes and gaps where they were, each once", () => {
    const recording = createSessionRecording((words) => words.join("|"));
    const lines = [
      recording.add({
        ...part,
        range: { from: 0, to: 6 },
        chunks: [chunk(0, 10, "ab"), chunk(4, 30, "ef")],
        gone: [{ from: 2, to: 4 }],
        resizes: [resize(1, 4, 20, 11), resize(2, 6, 40, 12)],
      }),
      recording.add({ ...part, range: { from: 6, to: 6 }, chunks: [], resizes: [resize(2, 6, 40, 12)] }),
      recording.add({
        ...part,
        range: { from: 6, to: 10 },
        chunks: [chunk(6, 50, "ghij")],
        resizes: [resize(2, 6, 40, 12)],
      }),
      recording.end({ ...part, range: { from: 6, to: 10 }, chunks: [], exitCode: 7, exitedAt: 60 }),
    ];
    const cast = parseCast(lines.join(""));
    expect(cast.header).toMatchObject({ term: { cols: 10, rows: 5 }, command: "sh|-c|a b" });
    expect(cast.events).toEqual([
      { interval: 0.01, code: "o", data: "ab" },
      { interval: 0, code: "m", data: "bytes 2-4 of the output were not retained" },
      { interval: 0.01, code: "r", data: "11x5" },
      { interval: 0.01, code: "o", data: "ef" },
      { interval: 0.01, code: "r", data: "12x5" },
      { interval: 0.01, code: "o", data: "ghij" },
      { interval: 0.01, code: "x", data: "7" },
    ]);
  });
});
