// Bytes a second of a program that writes as fast as it can: collected (no live output) and streamed to the client.
import { spawn } from "node:child_process";
import pty from "node-pty";
import { CHANNELS, median, openClient, printTable } from "./harness.mjs";
import { runFloor, runRelay } from "./relay/open-relay.mjs";

const ROUNDS = 3;
const BYTES = { pipes: 500_000_000, terminal: 100_000_000 };

export async function run() {
  for (const [stdio, bytes] of Object.entries(BYTES)) {
    const tty = stdio === "terminal";
    const command = ["head", "-c", String(bytes), "/dev/zero"];
    const subjects = { raw: () => (tty ? rawTerminal(command) : rawPipes(command)) };
    for (const kind of CHANNELS) {
      subjects[`${kind}, collected`] = () => collect(kind, command, tty, false);
      subjects[`${kind}, streamed`] = () => collect(kind, command, tty, true);
    }
    for (const kind of ["stdio", "websocket"]) {
      subjects[`bare relay, ${kind}`] = () => runRelay(kind, stdio, command);
      if (!tty) subjects[`floor, ${kind}`] = () => runFloor(kind, command);
    }
    const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, subject] of Object.entries(subjects)) times[name].push(await subject());
    }
    const raw = median(times.raw);
    const rows = Object.entries(times).map(([name, values]) => ({
      name,
      "MB/s": Math.round(bytes / 1e3 / median(values)),
      "of raw": `${Math.round((100 * raw) / median(values))} %`,
    }));
    printTable(`${bytes / 1e6} MB, ${stdio} (raw: ${tty ? "node-pty" : "child_process"}), ${ROUNDS} rounds`, rows);
  }
}

/** Milliseconds, and every byte accounted for. */
async function collect(kind, command, tty, live) {
  const client = await openClient(kind, { live });
  let streamed = 0;
  client.follow((message) => {
    streamed += message.bytes.length;
  });
  const start = performance.now();
  const result = await client.exec(command, { tty });
  const ms = performance.now() - start;
  const expected = Number(command[2]);
  if (result.range.to !== expected) throw new Error(`${result.range.to} of ${expected} bytes`);
  if (live && streamed !== expected) throw new Error(`${streamed} of ${expected} bytes streamed`);
  await client.close();
  return ms;
}

function rawPipes([program, ...args]) {
  return new Promise((resolve) => {
    const start = performance.now();
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", () => {});
    child.stderr.resume();
    child.once("close", () => resolve(performance.now() - start));
  });
}

function rawTerminal([program, ...args]) {
  return new Promise((resolve) => {
    const start = performance.now();
    const terminal = pty.spawn(program, args, { encoding: null });
    terminal.onData(() => {});
    terminal.onExit(() => resolve(performance.now() - start));
  });
}
