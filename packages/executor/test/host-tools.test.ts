import { createLocalBackend } from "@codex/process-host";
import { expect, it } from "vitest";
import { createHostTools } from "../src/index.js";

it("starts an executor for each host, which closes its backend with its channel", async () => {
  let opened = 0;
  let closed = 0;
  const createBackend = () => {
    const backend = createLocalBackend();
    opened += 1;
    return {
      ...backend,
      start: backend.start.bind(backend),
      async close() {
        await backend.close();
        closed += 1;
      },
    };
  };
  const shell = { name: "sh", path: "/bin/sh" };
  const host = { os: "linux", arch: "x64", shell, cwd: "/", home: "/", user: "somebody" };
  const hostTools = createHostTools();
  const channels = ["/a", "/b"].map((cwd) =>
    hostTools({ createBackend, host: { ...host, cwd }, resolvePath: async (path) => path }),
  );
  for (const [at, channel] of channels.entries()) {
    await channel.send({ type: "initialize", requestId: "1", clientName: "test", protocolVersion: "1" });
    expect(await channel.receive()).toMatchObject({
      value: { type: "initialize_response", host: { cwd: ["/a", "/b"][at], user: "somebody" } },
    });
    await channel.send({ type: "list_tools", requestId: "2" });
    const listed = await channel.receive();
    expect(JSON.stringify(listed)).toContain('"exec_command"');
  }
  expect(opened).toBe(2);
  for (const channel of channels) await channel.close();
  await expect.poll(() => closed).toBe(2);
});
