import { createMemoryChannelPair } from "@codex/channel";
import { createExecutor } from "@codex/executor";
import { expect, it, onTestFinished } from "vitest";

it("are not there where only others are offered, and cannot be called", async () => {
  let starts = 0;
  const backend = {
    start() {
      starts += 1;
      return Promise.reject(new Error("nothing is started here"));
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const executor = createExecutor({ backend, sessionTools: false });
  onTestFinished(() => executor.close());
  executor.tools.add({
    spec: { name: "only", description: "", inputSchema: {} },
    call: async () => ({ status: "success", content: [] }),
  });
  const [channel, its] = createMemoryChannelPair();
  void executor.serve(its);
  const ask = async (message: object) => {
    await channel.send(message);
    const received = await channel.receive();
    return received?.kind === "value" ? received.value : received;
  };
  expect(await ask({ type: "list_tools", requestId: "1" })).toMatchObject({ tools: [{ name: "only" }] });
  const request = { cmd: "true", argv: ["true"], cwd: "/" };
  expect(await ask({ type: "call_tool", requestId: "2", toolName: "exec_command", arguments: request })).toMatchObject({
    outcome: { status: "error", message: "unknown executor tool `exec_command`" },
  });
  expect(starts).toBe(0);
});
