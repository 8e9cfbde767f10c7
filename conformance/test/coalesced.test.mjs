import { beforeAll, describe, expect, it } from "vitest";
import { IN_HASTE, initialize, runScripted } from "./support.mjs";

const base64 = (text) => Buffer.from(text).toString("base64");
const event = (name, params) => ({ method: `process/${name}`, params: { processId: "p", ...params } });
const output = (seq, text, stream = "stdout") => event("output", { seq, stream, chunk: base64(text) });
const exited = (seq, exitCode = 0) => event("exited", { seq, exitCode, sandboxDenied: false });
const closed = (seq) => event("closed", { seq });
const started = { id: 2, result: { processId: "p", sandboxType: "none" } };
const readResult = (chunks, nextSeq, id = 3) => ({
  id,
  result: {
    chunks: chunks.map(({ params: { seq, stream, chunk } }) => ({ seq, stream, chunk })),
    nextSeq,
    exited: true,
    exitCode: 0,
    closed: true,
    failure: null,
    sandboxDenied: false,
  },
});
const hello = { id: 1, result: {} };

const RECORDED = [output(1, "hello"), output(2, "bad", "stderr"), exited(3), closed(4)];

/** All messages follow the request with id 2, except those in `read`, which follow the request with id 3. */
const coalesced = (name, events, { expected = RECORDED, read, ...more } = {}) => ({
  name,
  compare: "coalesced",
  send: [
    initialize(name),
    { id: 2, method: "process/start", params: { processId: "p" } },
    ...(read === undefined ? [] : [{ id: 3, method: "process/read", params: { processId: "p" } }]),
  ],
  expect: [hello, started, ...expected, ...(read === undefined ? [] : [read.expected])],
  script: [[hello], events, ...(read === undefined ? [] : [[read.actual]])],
  ...more,
});

const split = [output(1, "he"), output(2, "llo"), output(3, "bad", "stderr"), exited(4), closed(5)];
const recordedRead = readResult(RECORDED.slice(0, 2), 5);
const delta = (seq, text, done = false) => ({
  method: "http/request/bodyDelta",
  params: { requestId: "r", seq, deltaBase64: base64(text), done, error: null },
});

const PASSING = [
  coalesced("as recorded", [started, ...RECORDED]),
  coalesced("another cut", [started, ...split]),
  coalesced("the answer last", [...RECORDED, started]),
  coalesced("the exit first", [started, exited(1), output(2, "hello"), output(3, "bad", "stderr"), closed(4)]),
  coalesced("another order on the wire", [started, ...[...RECORDED].reverse()]),
  coalesced("a read of another cut", [started, ...split], {
    read: { expected: recordedRead, actual: readResult(split.slice(0, 3), 6) },
  }),
  coalesced("lines in another order", [started, output(1, "b\na\n"), exited(2), closed(3)], {
    expected: [output(1, "a\nb\n"), exited(2), closed(3)],
    note: "compare as a set of lines",
  }),
  coalesced("a body of another cut", [started, delta(1, "on"), delta(2, "e"), delta(3, "", true)], {
    expected: [delta(1, "one"), delta(2, "", true)],
  }),
];

const FAILING = [
  [
    coalesced("a gap", [started, output(1, "hello"), output(3, "bad", "stderr"), exited(4), closed(5)]),
    /gap in seq: after 1 comes 3/,
  ],
  [
    coalesced("twice", [started, output(1, "hello"), output(1, "bad", "stderr"), exited(2), closed(3)]),
    /seq 1 comes twice/,
  ],
  [
    coalesced("from 0 on", [started, output(0, "hello"), output(1, "bad", "stderr"), exited(2), closed(3)]),
    /has the seq 0/,
  ],
  [
    coalesced("from 2 on", [started, output(2, "hello"), output(3, "bad", "stderr"), exited(4), closed(5)]),
    /the first seq is 2/,
  ],
  [
    coalesced("closed before the exit", [started, ...RECORDED.slice(0, 2), closed(3), exited(4)]),
    /process\/closed has seq 3, but process\/exited has 4/,
  ],
  [coalesced("no closed", [started, ...RECORDED.slice(0, 3)]), /process\/closed is missing/],
  [coalesced("no exited", [started, ...RECORDED.slice(0, 2), closed(3)]), /process\/exited\[0]: missing/],
  [
    coalesced("another exit code", [started, ...RECORDED.slice(0, 2), exited(3, 1), closed(4)]),
    /exitCode: expected 0, got 1/,
  ],
  [coalesced("a lost byte", [started, output(1, "hell"), ...RECORDED.slice(1)]), /expected "hello", got "hell"/],
  [
    coalesced("the other stream", [started, output(1, "hello", "pty"), ...RECORDED.slice(1)]),
    /stream: expected "stdout", got "pty"/,
  ],
  [
    coalesced("streams in another order", [
      started,
      output(1, "bad", "stderr"),
      output(2, "hello"),
      exited(3),
      closed(4),
    ]),
    /stream: expected "stdout", got "stderr"/,
  ],
  [
    coalesced("no padding", [
      started,
      { ...RECORDED[0], params: { ...RECORDED[0].params, chunk: "aGVsbG8" } },
      ...RECORDED.slice(1),
    ]),
    /process\/output/,
  ],
  [coalesced("an answer too many", [started, ...RECORDED, { id: 9, result: {} }]), /an answer too many: {"id":9/],
  [coalesced("a notification too many", [started, ...RECORDED, { method: "x" }]), /a message too many: {"method":"x"}/],
  [coalesced("another process", [started, ...RECORDED, event("exited", { processId: "q", seq: 1 })]), /process "q"/],
  [
    coalesced("a read that lost a chunk", [started, ...split], {
      read: { expected: recordedRead, actual: readResult(split.slice(1, 3), 6) },
    }),
    /result.chunks\[0].chunk: expected "hello", got "llo"/,
  ],
  [
    coalesced("a read with a wrong next number", [started, ...split], {
      read: { expected: recordedRead, actual: readResult(split.slice(0, 3), 5) },
    }),
    /result.nextSeq: 5 does not fit/,
  ],
  [
    coalesced("a read that tells other bytes", [started, ...RECORDED], {
      read: { expected: recordedRead, actual: readResult([output(1, "hallo"), RECORDED[1]], 5) },
    }),
    /seq 1 is .* here and .* elsewhere/,
  ],
  [
    coalesced("a body with a gap", [started, delta(1, "one"), delta(3, "", true)], {
      expected: [delta(1, "one"), delta(2, "", true)],
    }),
    /HTTP request "r": gap in seq/,
  ],
];

describe("compare coalesced", () => {
  let results;
  beforeAll(async () => {
    results = await runScripted([...PASSING, ...FAILING.map(([each]) => each)], [...IN_HASTE]);
  });

  it.each(PASSING)("passes: $name", ({ name }) => {
    expect(results.get(name)).toMatchObject({ verdict: "passed" });
  });

  it.each(FAILING)("fails: $name", ({ name }, detail) => {
    expect(results.get(name)).toMatchObject({ verdict: "failed", detail: expect.stringMatching(detail) });
  });
});
