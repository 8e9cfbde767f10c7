import { buildRequestBody, createMessage, type Item } from "@codex/model";
import { functionCall, message } from "@codex/model/testing";
import { describe, expect, it } from "vitest";
import { createBodyWriter, joinPieces } from "../../src/responses/request-body.js";
import { request } from "../support.js";

/** A writer of whole bodies. */
function createWriter() {
  const write = createBodyWriter();
  return (asked: ReturnType<typeof request>) => joinPieces(write(asked));
}

/** An item that counts how often it is written. */
function countedItem(text: string) {
  const counts = { written: 0 };
  const item: Item = {
    type: "function_call_output",
    toJSON() {
      counts.written += 1;
      return { type: "function_call_output", output: text };
    },
  };
  return { item, counts };
}

describe("the bytes of a request", () => {
  it("have no half of a surrogate pair, which endpoints refuse", () => {
    const tool = {
      type: "function",
      name: "f",
      description: "\ude00",
      parameters: { "\ud83d": 1 },
      strict: false,
    } as const;
    const asked = request({ input: [createMessage("user", "a\ud83d")], tools: [tool] });
    const text = new TextDecoder().decode(createWriter()(asked));
    expect(text).not.toMatch(/\\ud/);
    expect(JSON.parse(text)).toMatchObject({
      input: [{ content: [{ text: "a\ufffd" }] }],
      tools: [{ description: "\ufffd", parameters: { "\ufffd": 1 } }],
    });
  });

  it.each([
    ["no history", {}],
    ["items with ids", { input: [createMessage("user", 'ö\u{1f600}\n"'), message("hi", "m9")] }],
    ["calls", { input: [functionCall("c1", "exec_command", { cmd: "ls" })], serviceTier: "fast" }],
    ["a model of an odd name", { model: '"input":[]', input: [createMessage("user", '"input":[]')] }],
  ])("are those of its body as JSON: %s", (_name, more) => {
    const asked = request(more);
    const expected = new TextEncoder().encode(JSON.stringify(buildRequestBody(asked)));
    const write = createWriter();
    expect(write(asked)).toEqual(expected);
    expect(write(asked)).toEqual(expected);
  });

  it("cost what is new in the history: an item is written once", () => {
    const write = createBodyWriter();
    const items = Array.from({ length: 200 }, (_, index) => countedItem(`output ${index}`));
    for (let turn = 1; turn <= items.length; turn += 1)
      write(request({ input: items.slice(0, turn).map(({ item }) => item) }));
    expect(items.map(({ counts }) => counts.written)).toEqual(items.map(() => 1));
  });

  it("are not copied again: each request continues the buffer of the last one, which grows by doubling", () => {
    const write = createBodyWriter();
    const text = "x".repeat(25_000);
    const input: Item[] = [];
    const buffers = new Set<ArrayBuffer>();
    for (let turn = 1; turn <= 200; turn += 1) {
      input.push(createMessage("user", `${turn}${text}`));
      const [, items] = write(request({ input: [...input] }));
      expect(items?.byteOffset).toBe(0);
      buffers.add(items!.buffer);
    }
    // 64 KiB · 2^7 is the first size above 5 MB.
    expect(buffers.size).toBeLessThanOrEqual(8);
    expect(Buffer.compare(joinPieces(write(request({ input }))), bytesOf({ input }))).toBe(0);
  });

  it("stay those of the request while later ones continue it, are shorter, or differ", () => {
    const write = createBodyWriter();
    const [one, two, three] = ["one", "two", "three"].map((text) => createMessage("user", text.repeat(20_000)));
    const histories = [
      [one],
      [one, two],
      [one, two, three],
      [one],
      [three, one],
      [],
      [two, two, one],
      [one, two, three],
    ];
    const requests = histories.map((input) => ({ input: input.map((item) => item!) }));
    const written = requests.map((each) => write(request(each)));
    for (const [index, pieces] of written.entries())
      expect(Buffer.compare(joinPieces(pieces), bytesOf(requests[index]!))).toBe(0);
  });

  it("of items are made once, also after another history", () => {
    const write = createBodyWriter();
    const counted = ["one", "two", "three"].map(countedItem);
    const [one, two, three] = counted.map(({ item }) => item);
    for (const input of [[one, two], [two], [one, two, three], [three, one]])
      write(request({ input: input.map((item) => item!) }));
    expect(counted.map(({ counts }) => counts.written)).toEqual([1, 1, 1]);
  });
});

const bytesOf = (more: Parameters<typeof request>[0]) =>
  new TextEncoder().encode(JSON.stringify(buildRequestBody(request(more))));
