// What streaming a flood to the client costs, in turns: `node bench/streamed.mjs [--rounds N] [--megabytes N] [--before CHECKOUT]`.
// Each run has a client process of its own, raw runs too: how V8 collects external memory depends on what ran before.
// Wall time, processor time of the executor by kind of thread, and peak memory of executor and client.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { createStdioChannel } from "@codex/channel";
import pty from "node-pty";
import { median, printTable } from "./harness.mjs";
import { receiveOutput, runFloor, runRelay } from "./relay/open-relay.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "12" },
    megabytes: { type: "string", default: "500" },
    before: { type: "string" },
    only: { type: "string" },
  },
});
const ACK_BYTES = 256 * 1024;
const direct = fileURLToPath(new URL("./relay/direct.mjs", import.meta.url));
const harness = (checkout) => `${checkout}/bench/harness.mjs`;
const ours = fileURLToPath(new URL("./harness.mjs", import.meta.url));

/** Share of the raw primitive's speed, percent, that is the goal. */
const GOAL = { pipes: 85, terminal: 95 };
const BYTES = { pipes: Number(values.megabytes) * 1e6, terminal: Number(values.megabytes) * 2e5 };

const subjects = { pipes: { raw: () => runRaw("pipes") }, terminal: { raw: () => runRaw("terminal") } };
for (const [stdio, runs] of Object.entries(subjects)) {
  for (const kind of ["stdio", "websocket"]) {
    if (values.before !== undefined) {
      runs[`${kind}, before`] = () => runExecutor(harness(resolve(values.before)), kind, stdio);
    }
    runs[kind] = () => runExecutor(ours, kind, stdio);
  }
}
for (const kind of ["stdio", "websocket"]) {
  for (const stdio of Object.keys(subjects)) {
    subjects[stdio][`bare relay, ${kind}`] = async () => ({ ms: await runRelay(kind, stdio, command(stdio)) });
  }
  subjects.pipes[`floor, ${kind}`] = async () => ({ ms: await runFloor(kind, command("pipes")) });
}
for (const kib of [256, 512]) subjects.pipes[`direct, stdio, reads of ${kib} KiB`] = () => runDirect(String(kib));

if (values.only === undefined) await runAll();
else {
  const [stdio, ...name] = values.only.split(": ");
  console.log(JSON.stringify({ ...(await subjects[stdio][name.join(": ")]()), client: peakMemory("self") }));
}

async function runAll() {
  for (const [stdio, runs] of Object.entries(subjects)) {
    const results = Object.fromEntries(Object.keys(runs).map((name) => [name, []]));
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const [name, list] of Object.entries(results)) list.push(await runAlone(`${stdio}: ${name}`));
    }
    report(stdio, results);
  }
}

async function runAlone(only) {
  const before = values.before === undefined ? [] : ["--before", values.before];
  const args = [fileURLToPath(import.meta.url), "--only", only, "--megabytes", values.megabytes, ...before];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

function report(stdio, results) {
  const times = Object.fromEntries(Object.entries(results).map(([name, list]) => [name, list.map(({ ms }) => ms)]));
  const rows = Object.entries(results).map(([name, list]) => {
    const ms = times[name];
    const pick = (key, choose) =>
      list[0][key] === undefined ? "" : Math.round(choose(...list.map((result) => result[key])));
    return {
      name,
      "best ms": Math.round(Math.min(...ms)),
      "of raw": `${Math.round((100 * Math.min(...times.raw)) / Math.min(...ms))} %`,
      "median ms": Math.round(median(ms)),
      "of raw ": `${Math.round((100 * median(times.raw)) / median(ms))} %`,
      "main thread, ms": pick("main", Math.min),
      "other threads, ms": pick("other", Math.min),
      "executor, MB": pick("executor", Math.max),
      "client, MB": pick("client", Math.max),
    };
  });
  const load = readFileSync("/proc/loadavg", "utf8").split(" ")[0];
  printTable(`${BYTES[stdio] / 1e6} MB, ${stdio}, streamed; goal ${GOAL[stdio]} % of raw; load ${load}`, rows);
}

function command(stdio) {
  return ["head", "-c", String(BYTES[stdio]), "/dev/zero"];
}

async function runExecutor(module, kind, stdio) {
  const { openClient } = await import(module);
  const client = await openClient(kind, { live: true });
  const pid = newestChild();
  let streamed = 0;
  client.follow(({ bytes, chunk }) => {
    streamed += bytes?.length ?? Buffer.byteLength(chunk, "base64");
  });
  const before = threadTimes(pid);
  const start = performance.now();
  await client.exec(command(stdio), { tty: stdio === "terminal" });
  const ms = performance.now() - start;
  const after = threadTimes(pid);
  const executor = peakMemory(pid);
  check(streamed, stdio);
  await client.close();
  return { ms, main: after.main - before.main, other: after.other - before.other, executor };
}

async function runDirect(kib) {
  const child = spawn(process.execPath, [direct, kib, ...command("pipes")], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const channel = createStdioChannel({ input: child.stdout, output: child.stdin });
  const { bytes, ms } = await receiveOutput(channel, ACK_BYTES);
  await ended;
  check(bytes, "pipes");
  return { ms };
}

async function runRaw(stdio) {
  const [program, ...args] = command(stdio);
  let bytes = 0;
  const onData = (chunk) => {
    bytes += chunk.length;
  };
  const start = performance.now();
  if (stdio === "terminal") {
    const terminal = pty.spawn(program, args, { encoding: null });
    terminal.onData(onData);
    await new Promise((resolve) => terminal.onExit(resolve));
  } else {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", onData);
    child.stderr.resume();
    await once(child, "close");
  }
  const ms = performance.now() - start;
  if (stdio === "pipes") check(bytes, stdio);
  return { ms };
}

function check(bytes, stdio) {
  if (bytes !== BYTES[stdio]) throw new Error(`${bytes} of ${BYTES[stdio]} bytes`);
}

/** MB. */
function peakMemory(pid) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1000;
}

function newestChild() {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
  return Number(children.at(-1));
}

/** Milliseconds on a processor. The other threads compile and collect garbage. */
function threadTimes(pid) {
  const times = { main: 0, other: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [ns] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    times[Number(thread) === pid ? "main" : "other"] += Number(ns) / 1e6;
  }
  return times;
}
