// An ACP agent on an executor: the client of the SDK talks to it over the streams of a judged program.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { agent, client, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { createLocalOrchestrator } from "@codex/local";

const { agent: calls } = methods;
if (process.argv[2] === "agent") {
  const { stdin, stdout } = process;
  const output = new WritableStream({ write: (bytes) => void stdout.write(bytes) });
  const input = Readable.toWeb(stdin);
  agent({ name: "worker" })
    .onRequest(calls.initialize, () => ({ protocolVersion: 1, agentInfo: { name: "worker", version: "1" } }))
    .connect(ndJsonStream(output, input));
} else {
  const orchestrator = await createLocalOrchestrator({
    policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
  });
  const argv = [process.execPath, fileURLToPath(import.meta.url), "agent"];
  const program = orchestrator.startCommand({ argv, stdin: "open" });
  const start = await program.started;
  assert.equal(start.kind, "started");
  const output = new WritableStream({ write: (bytes) => program.write(bytes), close: () => program.closeStdin() });
  const input = Readable.toWeb(Readable.from(program.stdout).map(({ bytes }) => bytes));
  await client({ name: "editor" }).connectWith(ndJsonStream(output, input), async (context) => {
    const { agentInfo } = await context.request(calls.initialize, { protocolVersion: 1, clientCapabilities: {} });
    assert.equal(agentInfo.name, "worker");
  });
  await orchestrator.close();
}
