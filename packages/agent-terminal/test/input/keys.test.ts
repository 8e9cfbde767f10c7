import { describe, expect, it } from "vitest";
import { type Key, KeyReader } from "../../src/input/keys.js";

/** A clock whose waits end when the test says so. */
function setUp() {
  const keys: Key[] = [];
  let wake = () => {};
  const clock = {
    after(_ms: number, run: () => void) {
      wake = run;
      return () => {
        wake = () => {};
      };
    },
  };
  const reader = new KeyReader(clock, (key) => keys.push(key));
  const push = (...pieces: string[]) => {
    for (const piece of pieces) reader.push(Buffer.from(piece, "latin1"));
  };
  return { keys, reader, push, elapse: () => wake() };
}
const names = (keys: readonly Key[]) => keys.map((key) => ("text" in key ? `${key.name} ${key.text}` : key.name));

describe("keys", () => {
  it.each([
    ["text and Enter", ["hi\r"], ["text hi", "enter"]],
    ["arrows", ["\u001b[A\u001bOB\u001b[1;5C"], ["up", "down", "word_right"]],
    ["a sequence cut between reads", ["\u001b", "[", "A"], ["up"]],
    ["Alt with a key", ["\u001bb\u001b\r"], ["word_left", "newline"]],
    ["control keys", ["\u0003\u0004\u0017\u0000"], ["interrupt", "end_of_input", "delete_word", "unknown"]],
    ["sequences that mean nothing here", ["\u001b[15~\u001b[200;3R"], ["unknown", "unknown"]],
  ])("are read: %s", (_name, pieces, expected) => {
    const { keys, push } = setUp();
    push(...pieces);
    expect(names(keys)).toEqual(expected);
  });

  it("reads characters whose bytes come apart", () => {
    const { keys, reader } = setUp();
    for (const byte of Buffer.from("ä€😀")) reader.push(Uint8Array.of(byte));
    expect(names(keys)).toEqual(["text ä", "text €", "text 😀"]);
  });

  it("takes Escape for a key of its own once nothing follows", () => {
    const { keys, push, elapse } = setUp();
    push("\u001b");
    expect(keys).toEqual([]);
    elapse();
    push("[A");
    expect(names(keys)).toEqual(["unknown", "text [A"]);
  });

  it("makes one key of a paste, with its lines, wherever it is cut", () => {
    const whole = "\u001b[200~one\r\ntwo\rthree\u0000\u001b[31m\u0003\u001b[201~\r";
    for (let at = 1; at < whole.length; at += 1) {
      const { keys, push } = setUp();
      push(whole.slice(0, at), whole.slice(at));
      expect(names(keys)).toEqual(["paste one\ntwo\nthree\ufffd\ufffd[31m\ufffd", "enter"]);
    }
  });

  it("reads a paste of 1 MB that comes in small pieces", () => {
    const { keys, push } = setUp();
    push("\u001b[200~");
    for (let count = 0; count < 1024; count += 1) push("x".repeat(1024));
    push("\u001b[201~");
    expect(keys).toHaveLength(1);
    expect(keys[0]).toMatchObject({ name: "paste", text: "x".repeat(1024 * 1024) });
  });

  it("does not wait without end for the end of a sequence", () => {
    const { keys, push } = setUp();
    push(`\u001b[${"1;".repeat(40)}`);
    expect(names(keys)).toEqual(["unknown"]);
  });
});
