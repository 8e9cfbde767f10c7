// The server under test: a command that is started for each case, or the URL of a running server.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { connectStdio, connectWebSocket } from "./connection.mjs";

/** Time limit for printing the address, milliseconds. */
const BANNER_TIMEOUT_MS = 15_000;
/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 2000;
/** Bytes of stderr that are kept for an error. */
const MAX_STDERR_BYTES = 4096;

/**
 * @typedef {"websocket" | "stdio"} Transport
 * @typedef {{ connect(): Promise<import("./connection.mjs").Connection>, end(): Promise<void> }} Server
 * @typedef {{ isShared: boolean, start(transport: Transport): Promise<Server>, killAll(): void }} Servers
 */

/** @param {string} target a ws:// URL, or a command @returns {Servers} */
export function createServers(target) {
  if (/^wss?:\/\//.test(target)) {
    const server = { connect: () => connectWebSocket(target), end: async () => {} };
    return { isShared: true, start: async () => server, killAll: () => {} };
  }
  /** @type {Set<number>} process groups that run */
  const groups = new Set();
  return {
    isShared: false,
    start: (transport) => startCommand(target, transport, groups),
    killAll: () => {
      for (const pid of groups) kill(-pid, "SIGKILL");
    },
  };
}

/** The words of a command with its `{listen}` filled in, or `--listen` at its end. */
export function toArguments(command, transport) {
  const listen = transport === "stdio" ? "stdio" : "ws://127.0.0.1:0";
  const words = splitWords(command);
  if (!words.some((word) => word.includes("{listen}"))) return [...words, "--listen", listen];
  return words.map((word) => word.replaceAll("{listen}", listen));
}

/** Blanks separate; quotes and backslashes keep them, as in a shell. Nothing is expanded. */
function splitWords(command) {
  const words = command.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/gs) ?? [];
  return words.map((word) =>
    word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs, (_, double, single, escaped) =>
      double !== undefined ? double.replace(/\\(["\\])/g, "$1") : (single ?? escaped),
    ),
  );
}

/** @returns {Promise<Server>} */
async function startCommand(command, transport, groups) {
  const [program, ...args] = toArguments(command, transport);
  const stdin = transport === "stdio" ? "pipe" : "ignore";
  // In its own group, so that wrapper processes end with it.
  const child = spawn(program, args, { stdio: [stdin, "pipe", "pipe"], detached: true });
  const stderr = keepTail(child.stderr);
  await new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(new Error(`starting \`${program}\` failed: ${cause.message}`, { cause })));
  });
  groups.add(child.pid);
  const exited = once(child, "exit");
  const end = async () => {
    await endTree(child, exited);
    groups.delete(child.pid);
  };
  if (transport === "stdio") {
    const connection = connectStdio(child);
    return { connect: async () => connection, end };
  }
  try {
    const url = await readBanner(child, exited, stderr);
    return { connect: () => connectWebSocket(url), end };
  } catch (error) {
    await end();
    throw error;
  }
}

function keepTail(stream) {
  let tail = Buffer.alloc(0);
  stream.on("data", (bytes) => {
    tail = Buffer.concat([tail, bytes]).subarray(-MAX_STDERR_BYTES);
  });
  return () => tail.toString().trim();
}

async function readBanner(child, exited, stderr) {
  const abort = new AbortController();
  const lines = createInterface({ input: child.stdout });
  const banner = new Promise((resolve) => lines.on("line", (line) => line.startsWith("ws://") && resolve(line.trim())));
  const failed = exited.then(([code, signal]) => {
    throw new Error(`the server ended (${signal ?? `exit code ${code}`}) before it printed ws://…: ${stderr()}`);
  });
  const late = sleep(BANNER_TIMEOUT_MS, undefined, { signal: abort.signal }).then(() => {
    throw new Error(`the server printed no ws://… within ${BANNER_TIMEOUT_MS} ms: ${stderr()}`);
  });
  late.catch(() => {});
  failed.catch(() => {});
  return Promise.race([banner, failed, late]).finally(() => abort.abort());
}

/** Ends a server and everything it started: SIGTERM to its group, a grace period, SIGKILL to the rest. */
async function endTree(child, exited) {
  const descendants = await findDescendants(child.pid);
  child.stdin?.destroy();
  kill(-child.pid, "SIGTERM");
  const abort = new AbortController();
  const grace = sleep(GRACE_MS, undefined, { signal: abort.signal }).catch(() => {});
  await Promise.race([exited, grace]);
  abort.abort();
  kill(-child.pid, "SIGKILL");
  await exited;
  await killLeft(descendants);
  child.stdout.destroy();
  child.stderr.destroy();
}

/** @returns {Promise<Map<number, string>>} when each one started, by process id */
async function findDescendants(pid) {
  const all = await listProcesses();
  const found = new Map();
  const parents = new Set([pid]);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const each of all) {
      if (!parents.has(each.parent) || found.has(each.pid)) continue;
      parents.add(each.pid);
      found.set(each.pid, each.started);
    }
  }
  return found;
}

/** A process id may have been reused: the start time must be the same. */
async function killLeft(descendants) {
  const alive = [...descendants.keys()].filter((pid) => kill(pid, 0));
  if (alive.length === 0) return;
  for (const { pid, started } of await listProcesses()) {
    if (alive.includes(pid) && descendants.get(pid) === started) kill(pid, "SIGKILL");
  }
}

/** Empty if there is no ps. */
async function listProcesses() {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,lstart="]).catch(() => ({ stdout: "" }));
  return stdout
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, parent, started]) => ({ pid: Number(pid), parent: Number(parent), started }));
}

/** Whether there was something to signal. */
function kill(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
