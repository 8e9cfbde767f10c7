// An orchestrator and an executor in one process: run a script, keep a session, read its outcome.
import assert from "node:assert/strict";
import { createLocalOrchestrator } from "@codex/local";

// The example runs its own commands only: no sandbox, no approvals. Without `sandbox` they could only read.
const WITHOUT_SANDBOX = { approvalPolicy: "never", sandbox: "danger-full-access" };
const orchestrator = await createLocalOrchestrator({ policy: WITHOUT_SANDBOX, defaults: { login: false } });

const result = await orchestrator.callTool("exec_command", { cmd: "echo hello; exit 3" });
console.log(result.text);
assert.equal(result.structured.exitCode, 3);
assert.deepEqual(result.structured.outcome, { kind: "exited", code: 3 });

// A shell that keeps running: its session id is in the result.
const shell = await orchestrator.callTool("exec_command", {
  cmd: "exec bash --norc -i",
  tty: true,
  yield_time_ms: 250,
});
const session_id = shell.structured.processId;
await orchestrator.callTool("write_stdin", { session_id, chars: "export X=1\n", yield_time_ms: 250 });
const echoed = await orchestrator.callTool("write_stdin", { session_id, chars: "echo X is $X\n", yield_time_ms: 250 });
assert.match(echoed.text, /X is 1/);

// The result of ending a session has its remaining output and confirms its end.
const killed = await orchestrator.callTool("kill_session", { session_id });
assert.equal(killed.isError, false);

await orchestrator.close();
