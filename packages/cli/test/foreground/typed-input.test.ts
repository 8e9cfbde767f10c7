import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import { describe, expect, it } from "vitest";
import { MAX_HELD_INPUT_BYTES } from "../../src/foreground/limits.js";
import { createOutages } from "../../src/foreground/outages.js";
import { passTyped } from "../../src/foreground/typed-input.js";

function stage() {
  const said: string[] = [];
  const taken: string[] = [];
  const left: string[] = [];
  const outages = createOutages((line) => void said.push(line), "hint");
  // Read like a terminal: only flow control and events are used.
  const stdin = new PassThrough();
  const target = {
    write: async (bytes: Uint8Array) => void taken.push(Buffer.from(bytes).toString()),
    closeStdin: async () => void taken.push("end"),
  };
  const stop = passTyped(stdin as unknown as ReadStream, {
    target,
    outages,
    say: (line) => void said.push(line),
    onLeave: (how) => void left.push(how),
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const type = async (text: string) => {
    stdin.write(text);
    await turn();
  };
  return { said, taken, left, outages, stdin, stop, type, turn };
}

describe("what is typed", () => {
  it("is handed on, and held during an outage", async () => {
    const { taken, outages, type, turn } = stage();
    await type("a");
    outages.lose("cut");
    await type("b");
    await type("c");
    expect(taken).toEqual(["a"]);
    outages.restore();
    await turn();
    await type("d");
    expect(taken).toEqual(["a", "bc", "d"]);
  });

  it("is dropped as a whole when there is more than is held", async () => {
    const { taken, said, outages, type, turn } = stage();
    outages.lose("cut");
    await type("x".repeat(MAX_HELD_INPUT_BYTES));
    await type("y");
    await type("z");
    outages.restore();
    await turn();
    await type("after");
    expect(taken).toEqual(["after"]);
    expect(said).toContain(
      `what was typed in the meantime was dropped: it was more than ${MAX_HELD_INPUT_BYTES} bytes`,
    );
  });

  it("is held up to the limit", async () => {
    const { taken, outages, type, turn } = stage();
    outages.lose("cut");
    await type("x".repeat(MAX_HELD_INPUT_BYTES));
    outages.restore();
    await turn();
    expect(taken.join("")).toHaveLength(MAX_HELD_INPUT_BYTES);
  });

  it("ends after what was held", async () => {
    const { taken, outages, stdin, type, turn } = stage();
    outages.lose("cut");
    await type("last");
    stdin.end();
    await turn();
    expect(taken).toEqual([]);
    outages.restore();
    await turn();
    await turn();
    expect(taken).toEqual(["last", "end"]);
  });

  it("leaves with ~. only during an outage", async () => {
    const { taken, left, outages, type } = stage();
    await type("~.");
    expect([taken, left]).toEqual([["~."], []]);
    outages.lose("cut");
    await type("~.");
    expect(left).toEqual(["~."]);
  });
});
