import { setTimeout as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Client, errorOf, execRequest, unwrap, writeRequest } from "../support/client.js";
import { startSession } from "../support/real-host.js";
import { type ResumableHost, useResumableHosts } from "../support/resumable.js";

/** Tells a file of its start, of every line it reads, of every size it gets and of every SIGINT; says so afterwards. */
const PROGRAM = `
  const { appendFileSync } = require("node:fs");
  const note = (line) => { appendFileSync(process.argv[1], line + "\\n"); console.log("noted " + line); };
  process.on("SIGINT", () => note("INT"));
  process.stdout.on("resize", () => {}); // before ours: it is what learns the size
  process.on("SIGWINCH", () => note("size " + process.stdout.getWindowSize().reverse().join(" ")));
  process.stdin.setRawMode(true);
  process.stdin.on("data", (bytes) => note("read " + bytes.toString().trim()));
  note("run");`;

interface Keyed {
  name: string;
  /** The message without its id; the same each time. */
  call: (context: { id: number; file: string }) => { toolName: string; arguments: unknown; idempotencyKey?: string };
  effect: string[];
}

const stdin = (context: { id: number }, more: object) => ({
  toolName: "write_stdin",
  arguments: writeRequest({ processId: context.id, yieldTimeMs: 300, writeId: "key", ...more }),
});

const CALLS: Keyed[] = [
  {
    name: "a start",
    call: ({ file }) => ({
      toolName: "exec_command",
      arguments: execRequest({ command: ["sh", "-c", `echo started >>${file}; sleep 0.3`], idempotencyKey: "key" }),
    }),
    effect: ["started"],
  },
  { name: "a write", call: (context) => stdin(context, { input: "line\n", until: "output" }), effect: ["read line"] },
  { name: "a signal", call: (context) => stdin(context, { signal: "interrupt" }), effect: ["INT"] },
  { name: "a resize", call: (context) => stdin(context, { resize: { rows: 30, cols: 90 } }), effect: ["size 30 90"] },
  {
    name: "a kill",
    call: ({ id }) => ({ toolName: "kill_session", arguments: { session_id: id }, idempotencyKey: "key" }),
    effect: [],
  },
  {
    name: "a tool of its own",
    call: () => ({ toolName: "count", arguments: {}, idempotencyKey: "key" }),
    effect: ["tool"],
  },
];

describe.each(CALLS)("$name", ({ call, effect }) => {
  const open = useResumableHosts();

  async function begin() {
    const host = open();
    const client = host.connect();
    const { sessionId } = await client.initialize({ acknowledges: true });
    const command = [process.execPath, "-e", PROGRAM, host.effectsFile];
    const { id } = await startSession(client, { command, tty: true }, "noted run");
    const message = { type: "call_tool", ...call({ id, file: host.effectsFile }) };
    const say = (to: Client, requestId: string, more: object = {}) => to.send({ ...message, requestId, ...more });
    return { host, client, sessionId, id, say };
  }

  const answerOf = async (client: Client, requestId: string) =>
    (await client.ofType("call_tool_response", requestId)).outcome;

  const expectOnce = async (host: ResumableHost, client: Client, id: number) => {
    // Input is delivered in order: once this has arrived, so has everything before it.
    const last = await client.call(
      "write_stdin",
      writeRequest({ processId: id, input: "end", until: "output", yieldTimeMs: 5_000 }),
    );
    const runs = last.status === "success" && unwrap(last).result.outcome.kind === "running";
    while (runs && !host.effects().includes("read end")) await nextTurn(5);
    await client.send({ type: "shutdown", requestId: "bye" });
    await client.served;
    expect(host.effects().filter((line) => line !== "read end")).toEqual(["run", ...effect]);
  };

  it("is repeated during and after the call: it runs once, with one result", async () => {
    const { host, client, id, say } = await begin();
    await say(client, "first");
    await say(client, "meanwhile");
    const first = await answerOf(client, "first");
    await say(client, "after");
    expect(await answerOf(client, "meanwhile")).toEqual(first);
    expect(await answerOf(client, "after")).toEqual(first);
    await expectOnce(host, client, id);
  });

  it("is repeated over another channel, before and after its result", async () => {
    const { host, client, sessionId, id, say } = await begin();
    await say(client, "first");
    await client.call("list_sessions", {}); // it has arrived
    await client.cut();
    const second = host.connect();
    await second.initialize({ resumeSessionId: sessionId, unanswered: [{ requestId: "first" }], received: [] });
    await say(second, "again");
    const first = await answerOf(second, "first");
    expect(await answerOf(second, "again")).toEqual(first);
    await second.cut();
    const third = host.connect();
    await third.initialize({ resumeSessionId: sessionId, unanswered: [], received: [] });
    await say(third, "once more");
    expect(await answerOf(third, "once more")).toEqual(first);
    await expectOnce(host, third, id);
  });

  it("is sent again under its own id and number: it runs once, with one result", async () => {
    const { host, client, sessionId, id, say } = await begin();
    await say(client, "same", { sequence: 5 });
    await say(client, "same", { sequence: 5 });
    await client.call("list_sessions", {}, "barrier", { sequence: 6 });
    await client.cut();
    const second = host.connect();
    const unanswered = [{ requestId: "same", sequence: 5 }];
    const { resume } = await second.initialize({ resumeSessionId: sessionId, unanswered, received: [] });
    expect(resume).toMatchObject({ resend: [], lastSequence: 6 });
    await say(second, "same", { sequence: 5 });
    await answerOf(second, "same");
    await expectOnce(host, second, id);
  });
});

describe("a repeat that nothing is known of any more", () => {
  const open = useResumableHosts();

  it("of a numbered call is refused, never run", async () => {
    const { connect, effects } = open();
    const client = connect();
    await client.initialize({ acknowledges: true });
    await client.call("count", {}, "one", { sequence: 3 });
    await client.send({ type: "ack", answers: ["one"] });
    await client.send({ type: "call_tool", toolName: "count", arguments: {}, requestId: "one", sequence: 3 });
    expect((await client.ofType("error", "one")).message).toBe(
      "this call was made before and is not made again; its result is no longer retained",
    );
    await client.send({ type: "call_tool", toolName: "count", arguments: {}, requestId: "old", sequence: 1 });
    await client.ofType("error", "old");
    expect(effects()).toEqual(["tool"]);
    await client.send({ type: "shutdown", requestId: "s" });
    await client.served;
  });

  it("of a call with a key is refused, never run, also after a resume", async () => {
    const { connect, effects } = open({ limits: { retainedKeys: 2, retainedResults: 1 } });
    const first = connect();
    const { sessionId } = await first.initialize();
    for (const idempotencyKey of ["a", "b", "s#1", "s#2", "s#3", "c"]) {
      expect((await first.call("count", {}, undefined, { idempotencyKey })).status).toBe("success");
    }
    await first.cut();
    const second = connect();
    await second.initialize({ resumeSessionId: sessionId, unanswered: [], received: [] });
    for (const idempotencyKey of ["a", "b", "s#1", "s#2"]) {
      const outcome = await second.call("count", {}, undefined, { idempotencyKey });
      expect(errorOf(outcome)).toMatch(/made before and is not made again/);
    }
    expect(effects().length).toBe(6);
    await second.send({ type: "shutdown", requestId: "s" });
    await second.served;
  });

  it("of a call whose result was dropped at the limit is refused", async () => {
    const { connect } = open({ limits: { unacknowledgedResults: 2 } });
    const first = connect();
    const { sessionId } = await first.initialize({ acknowledges: true });
    for (let sequence = 1; sequence <= 4; sequence++) await first.call("count", {}, `r${sequence}`, { sequence });
    await first.cut();
    const second = connect();
    const unanswered = [1, 2, 3, 4].map((sequence) => ({ requestId: `r${sequence}`, sequence }));
    await second.initialize({ resumeSessionId: sessionId, unanswered, received: [] });
    await second.ofType("call_tool_response", "r4");
    expect(second.all("error").map(({ requestId }) => requestId)).toEqual(["r1", "r2"]);
    expect(second.all("call_tool_response").map(({ requestId }) => requestId)).toEqual(["r3", "r4"]);
    await second.send({ type: "shutdown", requestId: "s" });
    await second.served;
  });
});
