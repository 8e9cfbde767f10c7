// An agent's loop with a scripted model: tool calls in, results back, approvals answered by code.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalOrchestrator } from "@codex/local";

/** In place of a model: reads the result of the last call and makes the next one. */
function* scriptedModel() {
  const listing = yield { name: "exec_command", arguments: '{"cmd":"ls -a"}' };
  assert.match(listing, /Process exited with code 0/);
  yield { name: "exec_command", arguments: { cmd: "printf 'one\\ntwo\\n' > notes.txt" } };
  const count = yield { name: "exec_command", arguments: { cmd: "wc -l < notes.txt" } };
  assert.match(count, /\n2\n$/);
  const refused = yield { name: "exec_command", arguments: { cmd: "rm -rf notes.txt" } };
  assert.match(refused, /was not approved/);
  const wrong = yield { name: "exec_command", arguments: { command: "ls" } };
  assert.match(wrong, /cmd/);
  return "There are two lines in notes.txt.";
}

const asked = [];
const approver = {
  async requestApproval(request) {
    asked.push(request.command.at(-1));
    return "decline";
  },
};

const directory = await mkdtemp(join(tmpdir(), "agent-"));
// On a host that can sandbox, "workspace-write" (the directory of the turn) is the sandbox to use for a model.
const policy = { approvalPolicy: "on-request", sandbox: "danger-full-access" };
const orchestrator = await createLocalOrchestrator({ policy, approver, defaults: { login: false } });

const model = scriptedModel();
let turn = model.next();
while (!turn.done) {
  const result = await orchestrator.callTool(turn.value.name, turn.value.arguments, { cwd: directory });
  if (result.status === "cancelled") break;
  turn = model.next(result.text);
}
console.log(turn.value);
assert.deepEqual(asked, ["rm -rf notes.txt"]);
assert.equal(await readFile(join(directory, "notes.txt"), "utf8"), "one\ntwo\n");

await orchestrator.close();
await rm(directory, { recursive: true });
