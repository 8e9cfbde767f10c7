// An orchestrator and an executor in one process: run a script, keep a session, read its outcome.
import assert from "node:assert/strict";
import { createLocalOrchestrator } from "@codex/local";

// Commands are the example's own: no sandbox, no questions. Without `sandbox` they could only read.
const WITHOUT_SANDBOX = { approvalPolicy: "never", sandbox: "danger-full-access" };
const orchestrator = await createLocalOrchestrator({ policy: WITHOUT_SANDBOX, defaults: { login: false } });

const answer = await orchestrator.callTool("exec_command", { cmd: "echo hello; exit 3" });
console.log(answer.text);
assert.equal(answer.structured.exitCode, 3);
assert.deepEqual(answer.structured.outcome, { kind: "exited", code: 3 });

// A shell that stays: its session id is in the result.
const shell = await orchestrator.callTool("exec_command", {
  cmd: "exec bash --norc -i",
  tty: true,
  yield_time_ms: 250,
});
const session_id = shell.structured.processId;
await orchestrator.callTool("write_stdin", { session_id, chars: "export X=1\n", yield_time_ms: 250 });
const echoed = await orchestrator.callTool("write_stdin", { session_id, chars: "echo X is $X\n", yield_time_ms: 250 });
assert.match(echoed.text, /X is 1/);

// Ending a session says what was there, and that it is gone.
const killed = await orchestrator.callTool("kill_session", { session_id });
assert.equal(killed.isError, false);

await orchestrator.close();
