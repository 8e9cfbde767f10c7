// An executor behind a websocket, as it would run on another machine: live output while the call waits.
import assert from "node:assert/strict";
import { createWebSocketListener } from "@codex/channel/websocket";
import { createExecutor } from "@codex/executor";
import { connectWebSocket, createOrchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";

const backend = createLocalBackend();
const executor = createExecutor({ backend });
const serving = [];
const listener = await createWebSocketListener({
  port: 0,
  onChannel: (channel) => serving.push(executor.serve(channel)),
});

// The example runs its own commands only: no sandbox, no approvals. Without `sandbox` they could only read.
const WITHOUT_SANDBOX = { approvalPolicy: "never", sandbox: "danger-full-access" };
const orchestrator = createOrchestrator({ policy: WITHOUT_SANDBOX, defaults: { login: false } });
const remote = await orchestrator.attach({ name: "build-host", channel: connectWebSocket(listener.url) });
assert.equal(remote.host.os, process.platform);

let live = "";
const lines = orchestrator.startCall("exec_command", { cmd: "for i in 1 2 3; do echo line $i; sleep 0.05; done" });
for await (const { bytes } of lines.output) live += bytes;
const result = await lines.result;
assert.equal(live, "line 1\nline 2\nline 3\n");
assert.ok(result.text.endsWith(live));

// Interrupting a call ends the wait, not the program: the session id is in the result.
const abort = new AbortController();
const call = orchestrator.callTool(
  "exec_command",
  { cmd: "echo started; sleep 60" },
  {
    signal: abort.signal,
    onOutput: () => abort.abort(),
  },
);
const interrupted = await call;
assert.equal(interrupted.status, "interrupted");
assert.ok(interrupted.structured.processId >= 1000);

await orchestrator.close();
await listener.close();
await Promise.all(serving);
await backend.close();
