// Many sessions of one executor on few cores: memory of idle ones, and how one interactive session feels beside active
// ones. `node bench/sessions.mjs [--idle 1000] [--active 200]`; Linux. Build first.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { createOrchestrator } from "@codex/orchestrator";
import { codex, printTable, quantile } from "./harness.mjs";
import { privateMegabytes, threadsOf } from "./peer/server.mjs";

const KEYS = 300;
const BATCH = 50;
const { values } = parseArgs({
  options: { idle: { type: "string", default: "1000" }, active: { type: "string", default: "200" } },
});
const [idle, active] = [Number(values.idle), Number(values.active)];
const limit = String(idle + active + 8);
const child = spawn(process.execPath, [codex, "executor", "--listen", "ws://127.0.0.1:0", "--max-sessions", limit], {
  stdio: ["ignore", "pipe", "inherit"],
});
const [url] = await once(createInterface({ input: child.stdout }), "line");
const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
await orchestrator.attach({ name: "sessions", channel: connectWebSocketChannel(url) });
let started = 0;
const measured = new Map();
let received = 0;

const rows = [];
await echo("alone");
note("nothing else");
await startIdle(idle / 2, false);
await startIdle(idle / 2, true);
note(`${idle} idle, half of them on terminals`);
await echo(`beside ${idle} idle`);
startActive(active);
const before = received;
const since = performance.now();
await echo(`beside ${idle} idle and ${active} that write 10 lines/s each`);
const perSecond = Math.round((received - before) / ((performance.now() - since) / 1000));
note(`${active} active as well (${perSecond} bytes/s arrive)`);
await orchestrator.close();
child.kill();
await once(child, "exit");
printTable("one key typed into `cat` on a terminal, through orchestrator and websocket", echoes());
printTable("the executor", rows);

function start(argv, tty, onOutput) {
  const env = { PATH: "/usr/bin:/bin" };
  return orchestrator.runCommand({ argv, cwd: "/", env, tty, stdin: "open" }, { onOutput });
}

/** As an agent leaves them: each was started by a call that has returned. */
async function startIdle(count, tty) {
  for (let index = 0; index < count; index += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - index) }, () =>
      orchestrator.callTool("exec_command", { cmd: "exec sleep 1000", tty, login: false, yield_time_ms: 250 }),
    );
    for (const { structured } of await Promise.all(batch)) {
      if (structured?.processId === undefined) throw new Error(`no session: ${JSON.stringify(structured)}`);
    }
    started += batch.length;
  }
}

/** Each is followed by a call that stays open. */
function startActive(count) {
  for (let index = 0; index < count; index += 1) {
    start(["sh", "-c", "while :; do echo tick; sleep 0.1; done"], false, ({ bytes }) => {
      received += bytes.length;
    });
  }
  started += count;
}

async function echo(name) {
  let got = () => {};
  const cat = start(["sh", "-c", "stty raw -echo; echo ready; exec cat"], true, () => got());
  await new Promise((resolve) => {
    got = resolve;
  });
  const times = [];
  for (let key = 0; key < KEYS; key += 1) {
    const echoed = new Promise((resolve) => {
      got = resolve;
    });
    const typed = performance.now();
    void cat.write(Buffer.from("x"));
    await echoed;
    times.push(performance.now() - typed);
    await new Promise((done) => setTimeout(done, 3));
  }
  await cat.signal("kill");
  await cat.ended;
  measured.set(name, times);
}

function echoes() {
  return [...measured].map(([name, times]) => ({
    beside: name,
    "median ms": +quantile(times, 0.5).toFixed(2),
    "p99 ms": +quantile(times, 0.99).toFixed(2),
  }));
}

function note(state) {
  const memory = privateMegabytes(child.pid);
  const first = rows[0]?.["private MB"] ?? memory;
  const sessions = started;
  rows.push({
    state,
    "private MB": +memory.toFixed(1),
    "KB each": sessions === 0 ? "" : +(((memory - first) * 1024) / sessions).toFixed(1),
    threads: threadsOf(child.pid),
    descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
  });
}
