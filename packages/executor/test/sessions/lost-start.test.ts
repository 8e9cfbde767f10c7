import { type ExecBackend, StartError, UnknownStartError } from "@codex/exec-backend";
import { describe, expect, it } from "vitest";
import { createExecutor } from "../../src/index.js";
import { Client, errorOf, execRequest, unwrap } from "../support/client.js";

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

  it("was not run where the call was cancelled before the host was reached", async () => {
    const waiting: ExecBackend = {
      start: (_spec, signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(new StartError("unreachable", "it was not reached")));
        }),
      close: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
    const client = new Client(createExecutor({ backend: waiting }));
    const answer = client.call("exec_command", execRequest({ command: ["x"] }), "s");
    await client.untilTaken();
    await client.send({ type: "cancel_tool", requestId: "s" });
    expect(errorOf(await answer)).toBe("the command was not run: it was not reached");
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
