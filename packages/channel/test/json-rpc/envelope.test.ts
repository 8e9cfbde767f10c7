import { type Envelope, parseEnvelope, RpcError } from "@codex/channel";
import { describe, expect, test } from "vitest";

const parse = (text: string): Envelope => parseEnvelope(JSON.parse(text), text);

describe("an envelope is recognized by its shape", () => {
  const request = { kind: "request", id: 1, method: "m", params: undefined, trace: undefined };
  const accepted: [string, object][] = [
    ['{"id":1,"method":"m"}', request],
    ['{"id":1,"method":"m","params":null}', { ...request, params: null }],
    ['{"id":1,"method":"m","params":[1]}', { ...request, params: [1] }],
    ['{"jsonrpc":"2.0","id":1,"method":"m"}', request],
    ['{"jsonrpc":17,"id":1,"method":"m"}', request],
    ['{"id":1,"method":"m","result":{},"error":{}}', request],
    ['{"id":"","method":"m"}', { ...request, id: "" }],
    ['{"id":"1","method":""}', { ...request, id: "1", method: "" }],
    ['{"id":0,"method":"m"}', { ...request, id: 0 }],
    ['{"id":-7,"method":"m"}', { ...request, id: -7 }],
    ['{"id":9007199254740993,"method":"m"}', { ...request, id: 9007199254740993n }],
    ['{"id":9223372036854775807,"method":"m"}', { ...request, id: 9223372036854775807n }],
    ['{"params":{"id":9223372036854775806}, "id" : -9223372036854775808 }', { kind: "malformed" }],
    ['{"params":{"id":9223372036854775806},"method":"m", "\\u0069d" : -9223372036854775808 }', { id: -(2n ** 63n) }],
    ['{"id":1,"method":"m","trace":null}', request],
    [
      '{"id":1,"method":"m","trace":{"traceparent":"00-a","x":1}}',
      { ...request, trace: { traceparent: "00-a", x: 1 } },
    ],
    ['{"method":"m"}', { kind: "notification", method: "m", params: undefined }],
    ['{"method":"m","params":{"a":1},"trace":5}', { kind: "notification", method: "m", params: { a: 1 } }],
    ['{"id":5,"result":null}', { kind: "response", id: 5, result: null }],
    ['{"id":5,"result":{},"error":{"code":1,"message":""}}', { kind: "response", id: 5, result: {} }],
    ['{"id":-1,"error":{"code":-32600,"message":"x"}}', { kind: "error", id: -1, error: new RpcError(-32600, "x") }],
    ['{"error":{"code":1,"message":"x","data":[1]},"id":"a"}', { kind: "error", id: "a", error: { data: [1] } }],
  ];
  test.each(accepted)("%s", (text, envelope) => {
    expect(parse(text)).toMatchObject(envelope);
  });
});

describe("a value that is not a message is malformed, with a reason", () => {
  const rejected: [string, RegExp][] = [
    ["[]", /expected a JSON-RPC object/],
    ['[{"id":1,"method":"m"}]', /expected a JSON-RPC object/],
    ["null", /expected a JSON-RPC object/],
    ['"x"', /expected a JSON-RPC object/],
    ["{}", /missing field `error`/],
    ['{"id":1}', /missing field `error`/],
    ['{"id":null,"method":"m"}', /`id` must be a string or a signed 64-bit integer/],
    ['{"id":1.5,"method":"m"}', /`id`/],
    ['{"id":true,"method":"m"}', /`id`/],
    ['{"id":{},"method":"m"}', /`id`/],
    ['{"id":9223372036854775808,"method":"m"}', /`id`/],
    ['{"id":-9223372036854775809,"method":"m"}', /`id`/],
    ['{"id":1e300,"method":"m"}', /`id`/],
    ['{"id":1,"method":5}', /`method` must be a string/],
    ['{"id":1,"method":null,"result":1}', /`method` must be a string/],
    ['{"id":1,"method":"m","trace":"zzz"}', /`trace`/],
    ['{"id":1,"method":"m","trace":[]}', /`trace`/],
    ['{"id":1,"method":"m","trace":{"tracestate":1}}', /`trace`/],
    ['{"result":1}', /missing field `id`/],
    ['{"id":null,"result":1}', /`id` must/],
    ['{"error":{"code":1,"message":"m"}}', /missing field `id`/],
    ['{"id":null,"error":{"code":1,"message":"m"}}', /`id` must/],
    ['{"id":1,"error":"m"}', /`error` must be an object/],
    ['{"id":1,"error":{"code":1}}', /`error` must be an object/],
    ['{"id":1,"error":{"code":1.5,"message":"m"}}', /`error.code`/],
    ['{"id":1,"error":{"code":1,"message":null}}', /`error.message`/],
    ['{"id":1,"id":2,"method":"m"}', /repeated/],
    ['{"id":1,"method":"m","\\u0069d":1}', /repeated/],
    [`{"id":1,"params":{"x":"${'\\"'.repeat(40)}"},"method":"m","params":1}`, /repeated/],
  ];
  test.each(rejected)("%s", (text, problem) => {
    expect(parse(text)).toEqual({ kind: "malformed", problem: expect.stringMatching(problem) });
  });
});

test.each(["a".repeat(30), "a".repeat(23), `${"a".repeat(30)}\\\\`, `${"\\\\".repeat(30)}`])(
  "a string is read to its end, past escaped quotes: %s",
  (start) => {
    const text = `{"params":"${start}\\"::::{","method":"m"}`;
    expect(parse(text)).toMatchObject({ kind: "notification", params: expect.stringContaining('"::::{') });
  },
);

test("members of nested values and of strings do not count as repeated", () => {
  const params = {
    id: 1,
    method: { id: 2 },
    list: [{ id: 3 }, ":", '":"', "\\", `${"\\".repeat(51)}":{"`, ":".repeat(99)],
  };
  const text = JSON.stringify({ id: 1, method: "m", params });
  expect(parse(text)).toMatchObject({ kind: "request", params });
  expect(parse(JSON.stringify({ __proto__x: 1, ...JSON.parse('{"__proto__":1}'), method: "m" })).kind).toBe(
    "notification",
  );
});
