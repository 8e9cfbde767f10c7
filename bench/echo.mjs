// One key typed into a terminal until its echo arrives, against node-pty doing the same.
import pty from "node-pty";
import { CHANNELS, interleave, median, openClient, openOrchestrator, printTable } from "./harness.mjs";

const ROUNDS = 1000;

export async function run() {
  const raw = await openRaw();
  const clients = Object.fromEntries(await Promise.all(CHANNELS.map(async (kind) => [kind, await openEcho(kind)])));
  const typist = await openTypist();
  const subjects = {
    raw: raw.type,
    ...Object.fromEntries(CHANNELS.map((kind) => [kind, clients[kind].type])),
    "orchestrator, websocket": typist.type,
  };
  await interleave(subjects, 50);
  const times = await interleave(subjects, ROUNDS);
  const base = median(times.raw);
  const rows = Object.entries(times).map(([name, values]) => ({
    name,
    "median ms": +median(values).toFixed(3),
    "added ms": +(median(values) - base).toFixed(3),
  }));
  printTable(`echo of one key (raw: node-pty), ${ROUNDS} rounds`, rows);
  raw.close();
  await typist.close();
  await Promise.all(Object.values(clients).map((client) => client.close()));
}

async function openRaw() {
  const terminal = pty.spawn("cat", [], { encoding: null });
  let arrived = () => {};
  terminal.onData(() => arrived());
  const type = () =>
    new Promise((resolve) => {
      arrived = resolve;
      terminal.write("x");
    });
  return { type, close: () => terminal.kill() };
}

/** As `codex run` types: a wait for output is in progress, which each key cuts short. */
async function openTypist() {
  const orchestrator = await openOrchestrator("websocket");
  let arrived = () => {};
  const started = new Promise((resolve) => {
    arrived = resolve;
  });
  const cat = orchestrator.run(["sh", "-c", "echo ready; exec cat"], { tty: true, stdin: "open" }, () => arrived());
  await started;
  const key = Buffer.from("x");
  const type = () =>
    new Promise((resolve) => {
      arrived = resolve;
      void cat.write(key);
    });
  const close = async () => {
    await cat.signal("kill");
    await cat.ended;
    await orchestrator.close();
  };
  return { type, close };
}

async function openEcho(kind) {
  const client = await openClient(kind);
  const { processId } = await client.exec(["cat"], { tty: true, yieldTimeMs: 0 });
  let arrived = () => {};
  client.follow(() => arrived());
  const type = async () => {
    const echoed = new Promise((resolve) => {
      arrived = resolve;
    });
    const body = { processId, input: "x", yieldTimeMs: 5_000, maxOutputTokens: 0, until: "output" };
    await Promise.all([echoed, client.call("write_stdin", body)]);
  };
  return {
    type,
    close: async () => {
      await client.call("kill_session", { session_id: processId });
      await client.close();
    },
  };
}
