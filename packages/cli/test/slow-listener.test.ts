import { connectStdio, connectWebSocket, createOrchestrator, type LiveOutput } from "@codex/orchestrator";
import { afterEach, describe, expect, it } from "vitest";
import { codex, useCommand } from "./support.js";

const BYTES = 20_000_000;

describe.each(["stdio", "websocket"])("a listener that takes nothing, over %s", (transport) => {
  const command = useCommand();
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const connect = async () => {
    if (transport === "stdio") return connectStdio({ command: process.execPath, args: [codex, "executor"] });
    return connectWebSocket((await command.listen()).url);
  };

  it("holds back a program that writes without end, and no other call", { timeout: 60_000 }, async () => {
    const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
    closing.push(() => orchestrator.close());
    await orchestrator.attach({ name: "main", channel: connect() });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let tellStarted = () => {};
    const started = new Promise<void>((resolve) => {
      tellStarted = resolve;
    });
    let received = 0;
    const onOutput = async ({ bytes, offset, dropped }: LiveOutput) => {
      expect({ offset, dropped }).toEqual({ offset: received, dropped: undefined });
      received += bytes.length;
      tellStarted();
      await released;
    };
    const cmd = `head -c ${BYTES} /dev/zero`;
    const flooding = orchestrator.callTool("exec_command", { cmd, login: false, yield_time_ms: 30_000 }, { onOutput });
    await started;
    for (let count = 0; count < 20; count++) {
      const other = await orchestrator.callTool("exec_command", { cmd: `echo ${count}`, login: false });
      expect(other).toMatchObject({ status: "success", text: expect.stringMatching(`\n${count}\n$`) });
    }
    release();
    expect(await flooding).toMatchObject({ status: "success", structured: { range: { from: 0, to: BYTES } } });
    expect(received).toBe(BYTES);
  });
});
