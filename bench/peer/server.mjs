// An exec-server that was started for the bench, ours or another, and a bare client of it. Linux.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { speakLines, speakWebSocket } from "./wire.mjs";

const ENV = { PATH: "/usr/bin:/bin" };

/** Starts a server (`command`: its words, without `--listen`) and connects to it. */
export async function openServer(command, transport) {
  const [program, ...args] = command;
  const started = performance.now();
  const listen = transport === "stdio" ? "stdio" : "ws://127.0.0.1:0";
  const child = spawn(program, [...args, "--listen", listen], { stdio: ["pipe", "pipe", "ignore"] });
  const server = new Server(child);
  const onMessage = (buffer, start, end) => server.receive(buffer, start, end);
  server.wire =
    transport === "stdio"
      ? speakLines(child.stdout, child.stdin, onMessage)
      : await speakWebSocket((await once(createInterface({ input: child.stdout }), "line"))[0], onMessage);
  await server.request("initialize", { clientName: "bench", resumeSessionId: null });
  server.coldStartMs = performance.now() - started;
  server.wire.send('{"method":"initialized","params":{}}');
  server.pid = serverPid(child.pid);
  return server;
}

class Server {
  #child;
  #nextId = 1;
  #nextProcess = 1;
  #answers = new Map();
  #listeners = new Map();

  constructor(child) {
    this.#child = child;
    child.stdin.on("error", () => {});
  }

  request(method, params = null) {
    const id = this.#nextId++;
    this.wire.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }));
  }

  /** Output is counted and not parsed; `onEvent(method, bytes)`. */
  start(argv, { tty = false, onEvent = () => {} } = {}) {
    const processId = `p${this.#nextProcess++}`;
    this.#listeners.set(processId, onEvent);
    const answer = this.request("process/start", { processId, argv, cwd: "file:///", env: ENV, tty, arg0: null });
    return { processId, answer };
  }

  /** Runs a program to its end; resolves with the bytes it wrote. */
  run(argv, tty = false) {
    let bytes = 0;
    return new Promise((resolve, reject) => {
      const { processId, answer } = this.start(argv, {
        tty,
        onEvent: (method, size) => {
          bytes += size;
          if (method !== "process/closed") return;
          this.#listeners.delete(processId);
          resolve(bytes);
        },
      });
      answer.catch(reject);
    });
  }

  receive(buffer, start, end) {
    const head = buffer.latin1Slice(start, Math.min(end, start + 160));
    const output = /^\{(?:"jsonrpc":"2.0",)?"method":"process\/output","params":\{"processId":"(\w+)"/.exec(head);
    if (output !== null) {
      this.#listeners.get(output[1])?.("process/output", chunkBytes(buffer, start, end, head));
      return;
    }
    const { id, method, params, result, error } = JSON.parse(buffer.utf8Slice(start, end));
    if (method !== undefined) {
      this.#listeners.get(params.processId)?.(method, 0);
      return;
    }
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    if (error === undefined) answer?.resolve(result);
    else answer?.reject(new Error(error.message));
  }

  async close() {
    this.wire.close?.();
    this.#child.stdin.destroy();
    for (const pid of new Set([this.pid, this.#child.pid])) tryKill(pid);
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }
}

const CHUNK = '"chunk":"';
const QUOTE = 0x22;
const PAD = 0x3d;

/** Bytes of the base64 in a `process/output` message. */
function chunkBytes(buffer, start, end, head) {
  const from = start + head.indexOf(CHUNK) + CHUNK.length;
  const to = buffer.lastIndexOf(QUOTE, end - 1);
  const padding = to <= from ? 0 : (buffer[to - 1] === PAD) + (buffer[to - 2] === PAD);
  return ((to - from) / 4) * 3 - padding;
}

function tryKill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ended by itself
  }
}

/** The server may stand behind a launcher: the last of the chain that was started as one is the one that serves. */
function serverPid(pid) {
  for (let current = pid; ; ) {
    const children = readFileSync(`/proc/${current}/task/${current}/children`, "utf8").trim().split(" ");
    const server = children.find(
      (child) => child && readFileSync(`/proc/${child}/cmdline`, "utf8").includes("exec-server"),
    );
    if (server === undefined) return current;
    current = Number(server);
  }
}

/** Private memory, MB; what is mapped from files and not written to does not count. */
export function privateMegabytes(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kilobytes = [...rollup.matchAll(/^Private_Dirty:\s+(\d+)/gm)].reduce((sum, [, kb]) => sum + Number(kb), 0);
  return kilobytes / 1024;
}

/** The same from a source that is cheap enough to ask often; pages that a file mapping shares are taken for shared. */
export function anonymousMegabytes(pid) {
  const [, resident, shared] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ").map(Number);
  return ((resident - shared) * 4096) / 1024 / 1024;
}

export const threadsOf = (pid) => Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
export const descriptorsOf = (pid) => readdirSync(`/proc/${pid}/fd`).length;

/** Seconds of processor time of the threads that run; of all, in ticks of 10 ms, where the kernel does not count it exactly. */
export function cpuSeconds(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const used = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]));
    return used.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e9;
  } catch {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }
}
