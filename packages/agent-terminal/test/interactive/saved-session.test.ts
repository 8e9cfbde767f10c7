import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createMessage, NO_USAGE } from "@codex/agent";
import { createThreadStore, type NewThread } from "@codex/agent/node";
import { createSavedSession } from "@codex/agent-terminal";
import { systemClock } from "@codex/clock";
import { createOrchestrator } from "@codex/orchestrator";
import { describe, expect, it, onTestFinished } from "vitest";

const HERE = { cwd: "/here", modelProvider: "mine", environment: "local" };

/** A session at `HERE` with one saved thread of `ITS` place; the model is never asked. */
async function setUp(its: Partial<NewThread> = {}) {
  const home = mkdtempSync(join(realpathSync(tmpdir()), "session "));
  const store = createThreadStore({ home, version: "test" });
  const { id, file } = await store.create({ ...HERE, ...its });
  await file.append({ type: "item", item: createMessage("user", "hello") });
  await file.append({ type: "usage", turnId: "t", usage: { ...NO_USAGE, totalTokens: 9 }, total: NO_USAGE });
  await file.close();
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never" } });
  onTestFinished(() => orchestrator.close());
  const model = { stream: () => Promise.reject(new Error("unused")) as never };
  const session = await createSavedSession({
    createAgent: (modelName = "test-model") => createAgent({ orchestrator, model, modelName }),
    model: "test-model",
    store,
    newThread: HERE,
    ephemeral: false,
    opened: undefined,
    orchestrator,
    facts: {},
    approvals: "",
    diff: () => Promise.resolve(""),
    close: () => Promise.resolve(),
    clock: systemClock,
  });
  onTestFinished(async () => {
    await session.close();
    rmSync(home, { recursive: true, force: true });
  });
  return { id, session, store };
}

describe("a session that resumes a thread", () => {
  it("takes the beginning of its id, and keeps what it knows of it with another model", async () => {
    const { id, session } = await setUp();
    const thread = await session.resumeThread(id.slice(0, 18));
    expect([thread.id, thread.lastTokens]).toEqual([id, 9]);
    await session.setModel("other-model");
    expect(session.thread).not.toBe(thread);
    expect(session.thread).toMatchObject({ id, lastTokens: 9, items: [{ role: "user" }] });
  });

  it.each<[Partial<NewThread>, RegExp]>([
    [
      { environment: "far" },
      /ran in environment `far`, and this conversation is in environment `local`; codex resume /,
    ],
    [{ cwd: "/there" }, /ran in \/there, and this conversation is in \/here; codex resume /],
  ])("refuses one of another place (%o), which stays free for others", async (its, expected) => {
    const { id, session, store } = await setUp(its);
    await expect(session.resumeThread(id)).rejects.toThrow(expected);
    expect(session.thread).toBeUndefined();
    const opened = await store.open(id);
    await opened.file.close();
  });
});
