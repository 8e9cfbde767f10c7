// What docs/media/program-question.svg shows: a script whose third program needs permission. A model on this host asks for the script
// twice; the answers are typed. From the root of a checkout:
//   ./scripts/codex run --tty --record /tmp/question.cast -- node docs/media/program-question.mjs
//   node scripts/render-recording.mjs /tmp/question.cast docs/media/program-question.svg
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const codex = fileURLToPath(new URL("../../scripts/codex", import.meta.url));
const base = "/tmp/demo";
const project = `${base}/app`;
rmSync(base, { recursive: true, force: true });
mkdirSync(`${base}/home/rules`, { recursive: true });
mkdirSync(project);
writeFileSync(
  `${project}/release.sh`,
  'set -e\ntar czf app.tgz release.sh\necho packed\n"$(cat how)" push -q "$PWD/remote.git" main\necho published\n',
);
writeFileSync(`${project}/how`, "git");
const git = (...args) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: project });
git("init", "-q", "-b", "main");
git("init", "-q", "--bare", "remote.git");
git("add", "release.sh");
git("commit", "-q", "-m", "release");
writeFileSync(
  `${base}/home/rules/default.rules`,
  'prefix_rule(pattern=["git", "push"], decision="prompt", justification="it publishes")\n',
);

let calls = 0;
const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  const isResult = JSON.parse(body).input.at(-1).type === "function_call_output";
  const say = (text) => ({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
  const run = () => ({
    type: "function_call",
    call_id: `call_${calls}`,
    name: "exec_command",
    arguments: JSON.stringify({ cmd: "sh release.sh", login: false, yield_time_ms: 60_000 }),
  });
  if (!isResult) calls += 1;
  const item = isResult ? say("That is how it ended.") : run();
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  for (const event of [
    { type: "response.created", response: { id: "resp_1" } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", usage } },
  ])
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
});
await once(server.listen(0, "127.0.0.1"), "listening");
writeFileSync(
  `${base}/home/config.toml`,
  `model = "model"\nmodel_provider = "here"\napproval_policy = "on-request"\nsandbox_mode = "workspace-write"\n[model_providers.here]\nname = "here"\nbase_url = "http://127.0.0.1:${server.address().port}/v1"\n`,
);
const child = spawn(codex, ["release it"], {
  cwd: project,
  env: { ...process.env, CODEX_HOME: `${base}/home` },
  stdio: "inherit",
});
await once(child, "exit");
server.closeAllConnections();
server.close();
rmSync(base, { recursive: true, force: true });
