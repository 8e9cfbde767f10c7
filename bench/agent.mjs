// `codex exec` against a scripted endpoint on this host: start → first request, answer → next request, and a long thread.
// `node bench/agent.mjs [--peer PATH]`: the peer takes the same configuration and is run in turns; build first.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functionCall, respond, say, startScriptedEndpoint } from "../packages/agent/dist/testing/index.js";
import { codex, interleave, median, printTable } from "./harness.mjs";

const ROUNDS = 12;
/** Calls of the long thread, and bytes that each prints: 5 MB of history. */
const CALLS = 200;
const OUTPUT_BYTES = 25_000;
const peer = process.argv[2] === "--peer" ? process.argv[3] : undefined;

/** Sends a file twenty times by `node:http` alone, and prints the median of the milliseconds until the end of the response. */
const SENDER = `
  import { readFileSync } from "node:fs";
  import { Agent, request } from "node:http";
  const [url, file] = process.argv.slice(1);
  const [body, agent, times] = [readFileSync(file), new Agent({ keepAlive: true }), []];
  for (let round = 0; round < 20; round += 1) {
    const start = performance.now();
    await new Promise((resolve) => {
      request(url, { method: "POST", agent }, (response) => response.resume().on("end", resolve)).end(body);
    });
    times.push(performance.now() - start);
  }
  console.log(times.sort((a, b) => a - b)[10]);
  agent.destroy();`;

const endpoint = await startScriptedEndpoint(answer);
const directory = mkdtempSync(join(tmpdir(), "codex-bench-"));
const subjects = { "codex exec": [process.execPath, codex], ...(peer === undefined ? {} : { peer: [peer] }) };
try {
  for (const name of Object.keys(subjects)) setUp(name);
  await runShort();
  await runLong();
} finally {
  rmSync(directory, { recursive: true, force: true });
  await endpoint.close();
}

/** The prompt says which commands are called, one after the other. */
function answer({ body }) {
  const prompt = JSON.stringify(body.input).includes("long thread") ? "long" : "short";
  const made = body.input.filter(({ type }) => type === "function_call").length;
  const calls = prompt === "long" ? CALLS : 1;
  if (made === calls) return say("Done.");
  const cmd = prompt === "long" ? `head -c ${OUTPUT_BYTES} /dev/zero | tr '\\0' x` : "true";
  return respond(functionCall(`c${made}`, "exec_command", { cmd, login: false, max_output_tokens: 10_000 }));
}

function setUp(name) {
  const home = join(directory, name);
  mkdirSync(home);
  writeFileSync(
    join(home, "config.toml"),
    `model = "bench"\nmodel_provider = "bench"\n[model_providers.bench]\nname = "bench"\nbase_url = "${endpoint.url}"\n`,
  );
}

/** Milliseconds from the start to each request. */
async function requestsOf(name, prompt) {
  const [program, ...args] = subjects[name];
  const before = endpoint.requests.length;
  const start = performance.now();
  const child = spawn(program, [...args, "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", prompt], {
    cwd: directory,
    env: { ...process.env, CODEX_HOME: join(directory, name) },
    stdio: "ignore",
  });
  await once(child, "exit");
  return endpoint.requests.slice(before).map(({ at }) => at - start);
}

async function runShort() {
  const runs = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  const rounds = Object.keys(subjects).map((name) => [
    name,
    async () => runs[name].push(await requestsOf(name, "go on")),
  ]);
  await interleave(Object.fromEntries(rounds), ROUNDS);
  const rows = Object.entries(runs).map(([name, times]) => ({
    name,
    "start → first request, ms": +median(times.map(([first]) => first)).toFixed(1),
    "first → second request, with `true` between, ms": +median(times.map(([first, second]) => second - first)).toFixed(
      1,
    ),
  }));
  printTable(`a turn with one command, ${ROUNDS} rounds`, rows);
}

/** What the same bodies cost without an agent: the endpoint reads them, and answers. */
async function sendAlone(requests) {
  const file = join(directory, "body");
  const times = [];
  for (const { text } of requests) {
    writeFileSync(file, text);
    const args = ["--input-type=module", "-e", SENDER, `${endpoint.url}/responses`, file];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    for await (const chunk of child.stdout) printed += chunk;
    times.push(+(+printed).toFixed(1));
  }
  return { name: "node:http alone", requests: 40, "turns 10–40, ms": times[0], "last 30, ms": times[1] };
}

async function runLong() {
  const rows = [];
  for (const name of Object.keys(subjects)) {
    const at = await requestsOf(name, "long thread");
    const gaps = at.slice(1).map((time, index) => time - at[index]);
    const [early, late] = [gaps.slice(10, 40), gaps.slice(-30)].map((part) => +median(part).toFixed(1));
    rows.push({ name, requests: at.length, "turns 10–40, ms": early, "last 30, ms": late });
    if (name === "codex exec")
      rows.push(await sendAlone([25, 185].map((turn) => endpoint.requests.at(turn - CALLS - 1))));
  }
  printTable(`a thread of ${CALLS} commands that print ${OUTPUT_BYTES} bytes each`, rows);
}
