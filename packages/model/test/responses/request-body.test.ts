import { buildRequestBody, createMessage, type Item } from "@codex/model";
import { functionCall, message } from "@codex/model/testing";
import { describe, expect, it } from "vitest";
import { createBodyWriter } from "../../src/responses/request-body.js";
import { request } from "../support.js";

const parse = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

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
  it.each([
    ["no history", {}],
    ["items with ids", { input: [createMessage("user", 'ö\u{1f600}\n"'), message("hi", "m9")] }],
    ["calls", { input: [functionCall("c1", "exec_command", { cmd: "ls" })], serviceTier: "fast" }],
    ["a model of an odd name", { model: '"input":[]', input: [createMessage("user", '"input":[]')] }],
    ["half a surrogate pair", { input: [createMessage("user", "\ud800")] }],
  ])("are those of its body as JSON: %s", (_name, more) => {
    const asked = request(more);
    const expected = new TextEncoder().encode(JSON.stringify(buildRequestBody(asked)));
    const write = createBodyWriter();
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

  it("belong to the request: another one changes nothing of them", () => {
    const write = createBodyWriter();
    const input = [createMessage("user", "one")];
    const first = write(request({ input }));
    write(request({ input: [...input, createMessage("user", "two")] })).fill(0);
    expect(parse(first)).toMatchObject({ input: [{ content: [{ text: "one" }] }] });
    expect(parse(write(request({ input })))).toEqual(parse(first));
  });
});
