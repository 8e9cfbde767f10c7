import { beforeAll, describe, expect, it } from "vitest";
import { IN_HASTE, INITIALIZED, initialize, initialized, runScripted, SESSION } from "./support.mjs";

const status = { id: 2, method: "environment/status" };
const ready = { id: 2, result: { status: "ready" } };
const refused = { id: 2, error: { code: -32600, message: "path `/x` is not a file" } };

/** Replays `initialize` and one request. */
const exact = (name, script, { expected = [INITIALIZED, ready], ...more } = {}) => ({
  name,
  compare: "exact",
  send: [initialize(name), status],
  expect: expected,
  script,
  ...more,
});

const PASSING = [
  exact("as recorded", [[initialized()], [ready]]),
  exact("members in another order", [[{ result: initialized().result, id: 1 }], [ready]]),
  exact(
    "another text of an error",
    [[initialized()], [{ ...refused, error: { code: -32600, message: "/x: no file" } }]],
    {
      expected: [INITIALIZED, refused],
    },
  ),
  exact("a forgiven addition", [[{ id: 1, result: { ...initialized().result, protocolVersion: "1" } }], [ready]]),
  exact("an end that was recorded", [[initialized()], ["$cut"]], {
    send: [initialize("an end that was recorded"), { method: "x" }],
    expected: [INITIALIZED],
    expectClosed: [{ connectionClosed: true, wsCloseCode: 1006 }],
  }),
  exact("a resume", [[initialized()], [{ id: 2, error: { code: -32010, message: `session ${SESSION} is busy` } }]], {
    send: [initialize("a resume"), { id: 2, method: "initialize", params: { resumeSessionId: "$SESSION" } }],
    expected: [INITIALIZED, { id: 2, error: { code: -32010, message: "session <sessionId> is busy" } }],
    messageMatters: true,
  }),
];

const FAILING = [
  [
    exact("wrong result", [[initialized()], [{ id: 2, result: { status: "busy" } }]]),
    /message 2: result.status: expected "ready"/,
  ],
  [
    exact("wrong code", [[initialized()], [{ ...refused, error: { code: -32603, message: "/x" } }]], {
      expected: [INITIALIZED, refused],
    }),
    /error.code: expected -32600, got -32603/,
  ],
  [
    exact("text that names nothing", [[initialized()], [{ ...refused, error: { code: -32600, message: "no" } }]], {
      expected: [INITIALIZED, refused],
    }),
    /error.message: does not name "\/x"/,
  ],
  [
    exact("text that matters", [[initialized()], [{ ...refused, error: { code: -32600, message: "/x: no file" } }]], {
      expected: [INITIALIZED, refused],
      messageMatters: true,
    }),
    /error.message: expected "path `\/x` is not a file"/,
  ],
  [
    exact(
      "text of another session",
      [[initialized()], [{ id: 2, error: { code: -32010, message: `session ${SESSION.replace("0", "1")} is busy` } }]],
      {
        send: [
          initialize("text of another session"),
          { id: 2, method: "initialize", params: { resumeSessionId: "$SESSION" } },
        ],
        expected: [INITIALIZED, { id: 2, error: { code: -32010, message: "session <sessionId> is busy" } }],
        messageMatters: true,
      },
    ),
    /error.message: expected "session <sessionId> is busy"/,
  ],
  [
    exact("missing message", [[initialized()], [ready]], { expected: [INITIALIZED, ready, { method: "x" }] }),
    /message 3 is missing/,
  ],
  [exact("missing answer", [[initialized()], []]), /message 2 is missing.*did not come in time/],
  [exact("extra message", [[initialized()], [ready, { method: "x" }]]), /message 3 is one too many: {"method":"x"}/],
  [exact("wrong order", [[ready, initialized()], []]), /message 1: id: expected 1, got 2/],
  [
    exact("a session id of another kind", [[initialized(5)], [ready]]),
    /result.sessionId: expected "<sessionId>", got 5/,
  ],
  [exact("an invalid session id", [[initialized("x")], [ready]]), /result.sessionId: expected "<sessionId>", got "x"/],
  [
    exact("environment info without a shell", [
      [{ id: 1, result: { sessionId: SESSION, environmentInfo: {} } }],
      [ready],
    ]),
    /environmentInfo.shell: expected a shell/,
  ],
  [exact("unexpected member", [[initialized()], [{ ...ready, jsonrpc: "2.0" }]]), /jsonrpc: unexpected member/],
  [exact("missing member", [[initialized()], [{ id: 2, result: {} }]]), /result.status: missing/],
  [exact("a frame that is no JSON", [[initialized()], ["{"]]), /message 2: id: missing/],
  [exact("a binary frame", [[initialized()], [{ $binary: ready }]]), /message 2: id: missing/],
  [
    exact("connection cut", [[initialized()], ["$cut"]]),
    /message 2 is missing.*closed the connection before the response/,
  ],
  [
    exact("connection closed after the last message", [[initialized()], [ready, "$close"]]),
    /the server closed the connection/,
  ],
  [
    exact("no end where one was recorded", [[initialized()], [ready]], {
      expectClosed: [{ connectionClosed: true, wsCloseCode: 1006 }],
    }),
    /the server did not close the connection/,
  ],
  [
    exact("another end", [[initialized()], ["$close"]], {
      expected: [INITIALIZED],
      expectClosed: [{ connectionClosed: true, wsCloseCode: 1006 }],
    }),
    /closed with 1000, expected 1006/,
  ],
];

describe("compare exact", () => {
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
