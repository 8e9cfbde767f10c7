// Claude Code itself on an executor: the Claude Agent SDK talks to it over the streams of a judged program. Here a script stands for it.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { Readable, Writable } from "node:stream";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { createLocalOrchestrator } from "@codex/local";

const orchestrator = await createLocalOrchestrator({
  policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
});
function spawnClaudeCodeProcess({ command, args, cwd, signal }) {
  const program = orchestrator.startCommand({ argv: [command, ...args], cwd, stdin: "open" }, { signal });
  const child = Object.assign(new EventEmitter(), { killed: false, exitCode: null, signalCode: null });
  program.ended.then(({ exitCode, outcome, reason }) => {
    if (outcome === undefined) return child.emit("error", new Error(reason)); // refused or lost: no code is made up
    Object.assign(child, { exitCode: exitCode ?? null, signalCode: outcome.signal ?? null });
    child.emit("exit", child.exitCode, child.signalCode);
  });
  child.stdin = new Writable({
    write: (bytes, _encoding, done) => program.write(bytes).then(() => done(), done),
    final: (done) => program.closeStdin().then(() => done(), done),
  });
  child.stdout = Readable.from(program.stdout).map(({ bytes }) => bytes);
  child.kill = () => Boolean(program.signal("terminate").catch(() => {}));
  return child;
}

const fake = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { type, request_id } = JSON.parse(line);
  const response = { subtype: "success", request_id, response: {} };
  const result = { type: "result", subtype: "success", result: "hello", is_error: false, session_id: "s" };
  console.log(JSON.stringify(type === "user" ? result : { type: "control_response", response }));
})`;
const spawn = ({ signal }) => spawnClaudeCodeProcess({ command: process.execPath, args: ["-e", fake], signal });
const options = { pathToClaudeCodeExecutable: "/fake/claude", spawnClaudeCodeProcess: spawn };
let said = "";
for await (const { result = "" } of query({ prompt: "Who are you?", options })) said += result;
assert.equal(said, "hello");
await orchestrator.close();
