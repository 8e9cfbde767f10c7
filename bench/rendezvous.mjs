// Relay frames through `codex rendezvous`, against a process that only joins two websockets; and memory of idle executors.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { codex, interleave, median, printTable } from "./harness.mjs";

const ROUNDS = 3000;
const FLOWS = 9;
const FRAMES = 2000;
const IDLE = 2000;
const STREAM_ID = "0d7ae1a1-5f0b-4d7e-9df3-6e9a4b1f2c11";
/** A key, and a full record, as they are on the wire when they are encrypted. */
const KEY_FRAME = makeFrame(80);
const RECORD_FRAME = makeFrame(61_456);

export async function run() {
  const [rendezvous, proxy] = [await openRendezvous(), await openProxy()];
  const subjects = { "bare proxy": proxy.ends, rendezvous: rendezvous.ends };
  for (const { executor } of Object.values(subjects)) {
    executor.on("message", (data) => data.length === KEY_FRAME.length && executor.send(data));
  }
  const echo = Object.fromEntries(Object.entries(subjects).map(([name, ends]) => [name, () => typeKey(ends)]));
  await interleave(echo, 500);
  const echoes = await interleave(echo, ROUNDS);
  const flow = Object.fromEntries(Object.entries(subjects).map(([name, ends]) => [name, () => sendRecords(ends)]));
  const flows = await interleave(flow, FLOWS);
  const megabytes = (FRAMES * RECORD_FRAME.length) / 1e6;
  const rows = Object.keys(subjects).map((name) => ({
    name,
    "echo, median ms": +median(echoes[name]).toFixed(3),
    ratio: +(median(echoes[name]) / median(echoes["bare proxy"])).toFixed(2),
    "MB/s": Math.round(megabytes / (median(flows[name]) / 1000)),
    "of the proxy": +(median(flows["bare proxy"]) / median(flows[name])).toFixed(2),
  }));
  printTable(`relay frames, ${ROUNDS} echoes, ${FLOWS} × ${Math.round(megabytes)} MB`, rows);
  await measureIdle(rendezvous);
  for (const { child } of [rendezvous, proxy]) child.kill("SIGKILL");
}

async function measureIdle({ url, child }) {
  const dialMany = async (from, count) => {
    for (let at = from; at < from + count; at += 50) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, index) => dial(await register(url, `idle-${at + index}`))),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return residentKilobytes(child.pid);
  };
  const few = await dialMany(0, 500);
  const many = await dialMany(500, IDLE);
  console.log(`${((many - few) / IDLE).toFixed(1)} KB resident for each of ${IDLE} idle executors (Linux)`);
}

const residentKilobytes = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);

async function openRendezvous() {
  const { url, child } = await start([codex, "rendezvous"]);
  const executor = await dial(await register(url, "bench"));
  const { url: place } = await post(url, "/cloud/environment/bench/connect", { harness_public_key: makeKey() });
  return { url, child, ends: { executor, harness: await dial(place) } };
}

async function openProxy() {
  const { url, child } = await start([fileURLToPath(new URL("relay/join.mjs", import.meta.url))]);
  const place = url.replace("http", "ws");
  const executor = await dial(place);
  return { child, ends: { executor, harness: await dial(place) } };
}

async function start(args) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return { url, child };
}

async function dial(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, "open");
  return socket;
}

async function register(url, id) {
  const body = { security_profile: "noise_hybrid_ik_v1", executor_public_key: makeKey() };
  return (await post(url, `/cloud/environment/${id}/register`, body)).url;
}

const post = async (url, path, body) =>
  (await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) })).json();

const makeKey = () => ({
  suite: "Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256",
  x25519_public_key: randomBytes(32).toString("base64"),
  mlkem768_public_key: randomBytes(1184).toString("base64"),
});

/** A data frame with so many bytes of payload. */
function makeFrame(bytes) {
  const field = (tag, value) => Buffer.concat([Buffer.from([tag, ...toVarint(value.length)]), value]);
  const data = Buffer.concat([Buffer.from([8, 1, 24, 1]), field(34, randomBytes(bytes))]);
  return Buffer.concat([Buffer.from([8, 1]), field(18, Buffer.from(STREAM_ID)), field(42, data)]);
}

function toVarint(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...toVarint(value >> 7)];
}

function typeKey({ harness }) {
  return new Promise((resolve) => {
    harness.once("message", resolve);
    harness.send(KEY_FRAME);
  });
}

async function sendRecords({ executor, harness }) {
  let left = FRAMES;
  const done = new Promise((resolve) => {
    const count = () => {
      left -= 1;
      if (left > 0) return;
      harness.off("message", count);
      resolve();
    };
    harness.on("message", count);
  });
  for (let sent = 0; sent < FRAMES; sent += 1) {
    executor.send(RECORD_FRAME);
    if (executor.bufferedAmount > 4e6) await new Promise((resolve) => executor._socket.once("drain", resolve));
  }
  await done;
}
