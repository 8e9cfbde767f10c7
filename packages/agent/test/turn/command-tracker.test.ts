import { expect, it } from "vitest";
import { CommandTracker } from "../../src/turn/command-tracker.js";

it("forgets sessions that have ended beyond its limit, and none that runs", async () => {
  const ended = new Set<number>();
  const tracker = new CommandTracker({
    emit: async () => {},
    nextItemId: () => "item",
    shownOutputChars: 100,
    trackedSessions: 2,
    findEnd: (id) => (ended.has(id) ? { kind: "exited", code: 0 } : undefined),
  });
  const run = async (sessionId: number) => {
    const call = await tracker.start({
      callId: `call ${sessionId}`,
      command: "make",
      shownCommand: "make",
      cwd: undefined,
      environment: `environment ${sessionId}`,
    });
    const structured = {
      chunkId: "000000",
      wallTimeSeconds: 0,
      processId: sessionId,
      outcome: { kind: "running" as const },
      closed: false,
      range: { from: 0, to: 0 },
      omitted: [],
      originalTokenCount: 0,
      sandboxDenied: false,
    };
    await call.finish({ status: "success", isError: false, text: "", structured }, undefined);
  };
  for (const id of [1, 2, 3]) await run(id);
  expect([1, 2, 3].map(tracker.environmentOf)).toEqual(["environment 1", "environment 2", "environment 3"]);
  ended.add(2);
  await run(4);
  expect([1, 2, 3, 4].map((id) => tracker.environmentOf(id) !== undefined)).toEqual([true, false, true, true]);
});
