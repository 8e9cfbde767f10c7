import type { Channel, ChannelEnd } from "@codex/channel";
import { afterEach, describe, expect, it } from "vitest";
import { createExecutor, type ExecutorOptions } from "../../src/index.js";
import { Client } from "../support/client.js";
import { ManualClock } from "../support/manual-clock.js";
import { createScriptedBackend } from "../support/scripted-backend.js";

const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** An executor whose exec-server answers each message with the same, and tells how its channels ended. */
function createEcho(options: Partial<ExecutorOptions> = {}) {
  const clock = new ManualClock();
  const channels: Channel[] = [];
  const executor = createExecutor({
    backend: createScriptedBackend(clock),
    clock,
    execServer: () => ({
      async serve(channel) {
        channels.push(channel);
        for (let one = await channel.receive(); one !== undefined; one = await channel.receive()) {
          if (one.kind === "value") await channel.send(one.value).catch(() => {}); // it ended meanwhile
        }
      },
      async close() {},
    }),
    ...options,
  });
  const connect = (resumable = true) => {
    const client = new Client(executor, undefined, { resumable });
    clients.push(client);
    return client;
  };
  return { executor, connect, getEnd: (index: number): Promise<ChannelEnd> | undefined => channels[index]?.closed };
}

async function open(client: Client, tunnel: number): Promise<void> {
  const requestId = client.newId();
  await client.send({ type: "open_exec_server", requestId, tunnel, windowBytes: 4096 });
  await client.ofType("open_exec_server_response", requestId);
}

describe("a tunnel of an orchestrator that comes back over another channel", () => {
  it("ends with the channel before, even if that seems to be open, and its number can be used again", async () => {
    const { executor, connect, getEnd } = createEcho();
    const before = connect();
    const { sessionId, capabilities } = await before.initialize();
    expect(capabilities).toContain("exec_server");
    await open(before, 1);
    await before.send({ type: "exec_server", tunnel: 1, data: "[1", more: true });
    await before.send({ type: "exec_server", tunnel: 1, data: ",2]" });
    expect(await before.ofType("exec_server")).toEqual({ type: "exec_server", tunnel: 1, data: "[1,2]" });
    const after = connect();
    await after.initialize({ resumeSessionId: sessionId });
    expect(await getEnd(0)).toMatchObject({ kind: "failed", error: { message: expect.stringContaining("resumed") } });
    await open(after, 1);
    await after.send({ type: "exec_server", tunnel: 1, data: "3" });
    expect(await after.ofType("exec_server")).toEqual({ type: "exec_server", tunnel: 1, data: "3" });
    await executor.close();
    expect(await getEnd(1)).toMatchObject({ kind: "failed" });
  });

  it("is refused under a number that was used on this channel", async () => {
    const { connect } = createEcho();
    const client = connect(false);
    await client.initialize();
    await open(client, 2);
    for (const tunnel of [1, 2]) {
      const requestId = client.newId();
      await client.send({ type: "open_exec_server", requestId, tunnel, windowBytes: 4096 });
      expect((await client.ofType("error", requestId)).message).toBe(`tunnel ${tunnel}: the number was used before`);
    }
  });
});
