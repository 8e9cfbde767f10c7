import { createMemoryChannelPair } from "@codex/channel";
import { createProgramRunner } from "@codex/orchestrator";
import { expect, it } from "vitest";
import { closeAfterTest } from "../support/executors.js";

it("asks for the tools without waiting for the answer to initialize", async () => {
  const [ours, its] = createMemoryChannelPair();
  const orchestrator = createProgramRunner();
  closeAfterTest(() => orchestrator.close());
  const attached = orchestrator.attach({ name: "main", channel: ours, shutdownOnClose: false });
  const asked: { type: string; requestId: string }[] = [];
  for (const type of ["initialize", "list_tools"]) {
    const received = await its.receive();
    const value = received?.kind === "value" ? received.value : undefined;
    expect(value).toMatchObject({ type });
    asked.push(value as { type: string; requestId: string }); // as the line before has found
  }
  // One that knows only the base messages.
  await its.send({ type: "error", requestId: asked[0]!.requestId, message: "unknown message type `initialize`" });
  const tools = [{ name: "look", description: "Looks", inputSchema: { type: "object" } }];
  await its.send({ type: "list_tools_response", requestId: asked[1]!.requestId, tools });
  expect((await attached).host).toBeUndefined();
  expect(orchestrator.listTools().map(({ name }) => name)).toContain("look");
});
