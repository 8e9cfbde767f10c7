import { type ExecBackend, StartError, UnknownStartError } from "@codex/exec-backend";
import { describe, expect, it } from "vitest";
import { createExecutor } from "../../src/index.js";
import { CANCELLED_START_MS } from "../../src/limits.js";
import { Client, errorOf, execRequest, unwrap } from "../support/client.js";
import { ManualClock } from "../support/manual-clock.js";
import { createScriptedBackend } from "../support/scripted-backend.js";

/** An executor whose host fails to start anything. */
function failing(error: Error) {
  let starts = 0;
  const backend: ExecBackend = {
    start() {
      starts += 1;
      return Promise.reject(error);
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return { client: new Client(createExecutor({ backend })), count: () => starts };
}

describe("a command that fails to start", () => {
  it("was not run where the host says so", async () => {
    const { client } = failing(new StartError("program_not_found", "no such program"));
    const message = errorOf(await client.call("exec_command", execRequest({ command: ["x"] })));
    expect(message).toMatch(/^the command was not run: no such program/);
    await client.close();
  });

  it("was not run where the request never left this host", async () => {
    const { client } = failing(new Error("the connection to the exec-server has ended"));
    const message = errorOf(await client.call("exec_command", execRequest({ command: ["x"] })));
    expect(message).toMatch(/^the command was not run: the connection to the exec-server has ended/);
    await client.close();
  });

  it("was not run where the host is not reached within a moment of the call's cancellation", async () => {
    const clock = new ManualClock();
    const waiting: ExecBackend = {
      start: (_spec, signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(new StartError("unreachable", "it was not reached")));
        }),
      close: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
    const client = new Client(createExecutor({ backend: waiting, clock }));
    const answer = client.call("exec_command", execRequest({ command: ["x"] }), "s");
    await client.untilTaken();
    await client.send({ type: "cancel_tool", requestId: "s" });
    await clock.untilWaiting();
    clock.advance(CANCELLED_START_MS);
    expect(errorOf(await answer)).toBe("the command was not run: it was not reached");
    await client.close();
  });

  it("is given up at once where the executor shuts down, and does not run later", async () => {
    const clock = new ManualClock();
    const signals: (AbortSignal | undefined)[] = [];
    const waiting: ExecBackend = {
      start(_spec, signal) {
        signals.push(signal);
        return new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(new StartError("unreachable", "it was not reached")));
        });
      },
      close: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
    const client = new Client(createExecutor({ backend: waiting, clock }));
    const call = { toolName: "exec_command", arguments: execRequest({ command: ["x"] }) };
    await client.send({ type: "call_tool", requestId: "s", ...call });
    await expect.poll(() => signals.length).toBe(1);
    await client.close(); // no time passes on the clock
    expect(signals[0]?.aborted).toBe(true);
  });

  it("runs where its call is cancelled before the host is reached, a moment later", async () => {
    const clock = new ManualClock();
    const scripted = createScriptedBackend(clock);
    let reach = () => {};
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const slow: ExecBackend = {
      async start(spec, signal) {
        await reached;
        signal?.throwIfAborted();
        return scripted.start(spec);
      },
      close: () => scripted.close(),
      [Symbol.asyncDispose]: () => scripted.close(),
    };
    const client = new Client(createExecutor({ backend: slow, clock }));
    const answer = client.call("exec_command", execRequest({ command: ["scripted"] }), "s");
    await client.untilTaken();
    await client.send({ type: "cancel_tool", requestId: "s" });
    await clock.untilWaiting();
    clock.advance(CANCELLED_START_MS - 1);
    reach();
    const { result } = unwrap(await answer);
    expect(result).toMatchObject({ outcome: { kind: "running" }, waitEnded: "cancelled" });
    expect(result.processId).toBeTypeOf("number");
    expect(clock.waiting).toBe(0);
    await client.close();
  });

  it("is lost where that is not known, and is not made again", async () => {
    const { client, count } = failing(
      new UnknownStartError("the connection was lost before process/start was answered"),
    );
    const request = execRequest({ command: ["x"], idempotencyKey: "k#1" });
    const { result, text } = unwrap(await client.call("exec_command", request));
    expect(result).toMatchObject({ outcome: { kind: "lost", lastSeq: 0 }, closed: false, range: { from: 0, to: 0 } });
    expect(result).not.toHaveProperty("exitCode");
    expect(result).not.toHaveProperty("processId");
    expect(text).toMatch(/Process was lost: it is unknown whether it was started: the connection was lost/);
    expect(text).not.toMatch(/not run/);
    expect(unwrap(await client.call("exec_command", request)).result).toEqual(result);
    expect(count()).toBe(1);
    await client.close();
  });
});
