import { SessionGroup } from "@codex/orchestrator";
import { expect, it, onTestFinished } from "vitest";
import { createLocalOrchestrator } from "../src/index.js";

async function open(inFlightCalls: number) {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = await createLocalOrchestrator({ policy, defaults: { limits: { inFlightCalls } } });
  onTestFinished(() => orchestrator.close());
  const running = async () => {
    const { structured } = await orchestrator.callTool("list_sessions", {});
    const { sessions } = structured as unknown as { sessions: { state: string }[] };
    return sessions.filter(({ state }) => state === "running").length;
  };
  return { orchestrator, running };
}

const sleep = { cmd: "exec sleep 100", login: false, yield_time_ms: 250 };

it("ends more sessions than calls are allowed at once, also while others take the places of calls", async () => {
  const { orchestrator, running } = await open(2);
  const group = new SessionGroup(orchestrator);
  for (let count = 0; count < 4; count += 1) await group.callTool("exec_command", sleep);
  const crowd = ["a", "b"].map(() =>
    orchestrator.callTool("exec_command", { ...sleep, cmd: "sleep 1", yield_time_ms: 5000 }),
  );
  const closing = group.close();
  for (const one of crowd) expect(await one).toMatchObject({ status: "success" });
  await closing;
  expect(await running()).toBe(0);
});

it("ends a session that a call leaves after the group was closed", async () => {
  const { orchestrator, running } = await open(8);
  const group = new SessionGroup(orchestrator);
  const call = group.callTool("exec_command", sleep);
  await group.close();
  await call;
  await expect.poll(running).toBe(0);
});
