// What streaming a flood to the client costs, in turns: `node bench/streamed.mjs [--rounds N] [--before CHECKOUT]`.
// Wall time, and processor time of the executor by kind of thread: on a busy machine only its minimum can be compared.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createStdioChannel } from "@codex/channel";
import { median, printTable } from "./harness.mjs";
import { receiveOutput, runFloor } from "./relay/open-relay.mjs";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "12" }, before: { type: "string" } } });
const BYTES = 500_000_000;
const COMMAND = ["head", "-c", String(BYTES), "/dev/zero"];
const ACK_BYTES = 256 * 1024;
const direct = fileURLToPath(new URL("./relay/direct.mjs", import.meta.url));

const subjects = { "raw child_process": runRaw };
for (const checkout of [...(values.before === undefined ? [] : [resolve(values.before)]), ""]) {
  const { openClient } = await import(checkout === "" ? "./harness.mjs" : `${checkout}/bench/harness.mjs`);
  for (const kind of ["stdio", "websocket"]) {
    subjects[checkout === "" ? kind : `${kind}, before`] = () => runExecutor(openClient, kind);
  }
}
for (const kind of ["stdio", "websocket"])
  subjects[`floor, ${kind}`] = async () => ({ ms: await runFloor(kind, COMMAND) });
for (const kib of [64, 256, 512]) subjects[`direct, stdio, reads of ${kib} KiB`] = () => runDirect(String(kib));

const results = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const [name, run] of Object.entries(subjects)) results[name].push(await run());
}
const [raw] = Object.values(results).map((list) => list.map(({ ms }) => ms));
const rows = Object.entries(results).map(([name, list]) => {
  const ms = list.map((result) => result.ms);
  const cpu = (key) => (list[0][key] === undefined ? "" : Math.round(Math.min(...list.map((result) => result[key]))));
  return {
    name,
    "best ms": Math.round(Math.min(...ms)),
    "of raw": `${Math.round((100 * Math.min(...raw)) / Math.min(...ms))} %`,
    "median ms": Math.round(median(ms)),
    "of raw ": `${Math.round((100 * median(raw)) / median(ms))} %`,
    "main thread, ms": cpu("main"),
    "other threads, ms": cpu("other"),
  };
});
printTable(`500 MB, pipes, streamed; load ${readFileSync("/proc/loadavg", "utf8").split(" ")[0]}`, rows);

async function runExecutor(openClient, kind) {
  const client = await openClient(kind, { live: true });
  const pid = newestChild();
  let streamed = 0;
  client.follow(({ bytes, chunk }) => {
    streamed += bytes?.length ?? Buffer.byteLength(chunk, "base64");
  });
  const before = threadTimes(pid);
  const start = performance.now();
  await client.exec(COMMAND, { tty: false });
  const ms = performance.now() - start;
  const after = threadTimes(pid);
  if (streamed !== BYTES) throw new Error(`${streamed} of ${BYTES} bytes streamed`);
  await client.close();
  return { ms, main: after.main - before.main, other: after.other - before.other };
}

async function runDirect(kib) {
  const child = spawn(process.execPath, [direct, kib, ...COMMAND], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const channel = createStdioChannel({ input: child.stdout, output: child.stdin });
  const { bytes, ms } = await receiveOutput(channel, ACK_BYTES / (kib === "64" ? 4 : 1));
  await ended;
  if (bytes !== BYTES) throw new Error(`${bytes} of ${BYTES} bytes`);
  return { ms };
}

async function runRaw() {
  const start = performance.now();
  const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.on("data", () => {});
  child.stderr.resume();
  await once(child, "close");
  return { ms: performance.now() - start };
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
