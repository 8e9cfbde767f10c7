import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ThreadEntry, ThreadWriteError } from "@codex/agent";
import { functionCall, respond, say, stream } from "@codex/agent/testing";
import { describe, expect, it } from "vitest";
import { completedItems, readAll, startAgent } from "./support.js";

const exec = (id: string, cmd: string, more: object = {}) => functionCall(id, "exec_command", { cmd, ...more });

describe("a turn ends early", () => {
  it("by an abort: the open call gets an output, and the history records the end", async () => {
    const { thread, endpoint, entries } = await startAgent([
      respond(exec("c1", "echo begun; sleep 100", { yield_time_ms: 30_000 })),
      say("again"),
    ]);
    const controller = new AbortController();
    const seen = [];
    for await (const event of thread.run("go", { signal: controller.signal })) {
      seen.push(event);
      if (event.type === "item_delta") controller.abort();
    }
    expect(seen.at(-1)).toMatchObject({ type: "turn_failed", error: { code: "interrupted" } });
    expect(entries.at(-1)).toMatchObject({ type: "turn_ended", outcome: "interrupted" });
    await thread.run("and now?").result;
    const [output, aborted] = endpoint.requests[1]!.body.input.slice(-3);
    expect(String(output!.output)).toMatch(/^Wall time: [\d.]+ seconds\naborted by user\n[\s\S]*session/);
    expect(JSON.stringify(aborted!.content)).toContain("<turn_aborted>");
  });

  it("by leaving its loop", async () => {
    const { thread, entries } = await startAgent([respond(exec("c1", "sleep 100", { yield_time_ms: 30_000 }))]);
    for await (const event of thread.run("go")) if (event.type === "item_started") break;
    expect(entries.at(-1)).toMatchObject({ type: "turn_ended", outcome: "interrupted" });
  });

  it("by a number of responses", async () => {
    const { thread, endpoint } = await startAgent((_, index) => respond(exec(`c${index}`, "true")));
    const { end } = await thread.run("go", { maxResponses: 3 }).result;
    expect(end).toMatchObject({
      type: "turn_failed",
      error: { code: "max_turns", message: expect.stringContaining("3") as string },
    });
    expect(endpoint.requests).toHaveLength(3);
  });

  it("by time", async () => {
    const { thread } = await startAgent([stream([], { ending: "open" })], {});
    const { end } = await thread.run("go", { timeoutMs: 50 }).result;
    expect(end).toMatchObject({ error: { code: "timeout" } });
  });

  it("by the user who is asked", async () => {
    const approver = { requestApproval: () => Promise.resolve("cancel" as const) };
    const policy = { approvalPolicy: "untrusted", sandbox: "danger-full-access" } as const;
    const { thread, endpoint } = await startAgent([respond(exec("c1", "touch x"))], {
      orchestrator: { policy, approver },
    });
    const { end } = await thread.run("go").result;
    expect(end).toMatchObject({ error: { code: "interrupted" } });
    expect(endpoint.requests).toHaveLength(1);
  });

  it("when its thread cannot be kept", async () => {
    const { agent } = await startAgent([say("ok")]);
    const recorder = { append: () => Promise.reject(new Error("no space left on device")) };
    const { end } = await agent.startThread({ recorder }).run("go").result;
    expect(end).toMatchObject({ type: "turn_failed", error: { code: "internal", message: "no space left on device" } });
  });
});

it("ends with one failure when calls cannot be kept, and waits for all of them", async () => {
  const { agent, cwd } = await startAgent([respond(exec("c1", "echo x >> log"), exec("c2", "echo x >> log"))]);
  const append = (entry: { type: string; callId?: string }) =>
    entry.type === "call_started" && entry.callId === "c1"
      ? Promise.reject(new Error("no space left on device"))
      : Promise.resolve();
  const events = await readAll(agent.startThread({ recorder: { append } }).run("go"));
  expect(events.at(-1)).toMatchObject({ error: { code: "internal", message: "no space left on device" } });
  expect(readFileSync(join(cwd, "log"), "utf8")).toBe("x\n");
});

it("ends after its calls when an output cannot be saved, with the outcome of each", async () => {
  const { agent, cwd, endpoint } = await startAgent([
    respond(exec("c1", "echo x"), exec("c2", "while [ ! -e go ]; do sleep 0.01; done; echo y >> log")),
    say("never"),
  ]);
  const append = async (entry: ThreadEntry) => {
    if (entry.type !== "item" || entry.item.call_id !== "c1" || entry.item.type !== "function_call_output") return;
    writeFileSync(join(cwd, "go"), "");
    throw new ThreadWriteError("the disk is full");
  };
  const events = await readAll(agent.startThread({ recorder: { append } }).run("go"));
  expect(completedItems(events)).toMatchObject([{ status: "completed" }, { status: "completed" }]);
  expect(events.at(-1)).toMatchObject({ error: { code: "not_saved", message: "the disk is full" } });
  expect([readFileSync(join(cwd, "log"), "utf8"), endpoint.requests.length]).toEqual(["y\n", 1]);
});

it("fails when only its end cannot be saved", async () => {
  const { agent } = await startAgent([say("ok")]);
  const append = (entry: ThreadEntry) =>
    entry.type === "turn_ended" ? Promise.reject(new ThreadWriteError("the disk is full")) : Promise.resolve();
  const { end, finalMessage } = await agent.startThread({ recorder: { append } }).run("go").result;
  expect([end, finalMessage]).toMatchObject([{ error: { code: "not_saved" }, turnUsage: { totalTokens: 15 } }, "ok"]);
});
