// A bare exec-server client for the side-by-side bench: any server, websocket or stdio.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createStdioChannel, Peer } from "@codex/channel";
import { connectWebSocketChannel } from "@codex/channel/websocket";

const ENV = { PATH: "/usr/bin:/bin" };

/** Starts a server (`command` without `--listen`) and connects to it. */
export async function openServer(command, transport) {
  const [program, ...args] = command.split(" ");
  const started = performance.now();
  const listen = transport === "stdio" ? "stdio" : "ws://127.0.0.1:0";
  const child = spawn(program, [...args, "--listen", listen], { stdio: ["pipe", "pipe", "ignore"] });
  const channel =
    transport === "stdio"
      ? createStdioChannel({ input: child.stdout, output: child.stdin })
      : await connectWebSocketChannel((await once(createInterface({ input: child.stdout }), "line"))[0]);
  const listeners = new Map();
  const on = (method) => (params) => listeners.get(params.processId)?.(method, params);
  const notifications = new Map(["process/output", "process/exited", "process/closed"].map((name) => [name, on(name)]));
  const peer = new Peer(channel, { notifications, limits: { maxPendingRequests: 100_000 } });
  await peer.request("initialize", { clientName: "bench", resumeSessionId: null });
  const coldStartMs = performance.now() - started;
  await peer.notify("initialized", {});
  let next = 0;
  const start = (argv, { tty = false, onEvent = () => {} } = {}) => {
    const processId = `p${next++}`;
    listeners.set(processId, onEvent);
    const answer = peer.request("process/start", { processId, argv, cwd: "file:///", env: ENV, tty, arg0: null });
    return { processId, answer };
  };
  const pid = serverPid(child.pid);
  return {
    coldStartMs,
    pid,
    request: (method, params = null) => peer.request(method, params),
    start,
    /** Runs a program to its end; resolves with the bytes it wrote. */
    async run(argv, tty = false) {
      let bytes = 0;
      await new Promise((resolve, reject) => {
        const { processId, answer } = start(argv, {
          tty,
          onEvent(method, params) {
            if (method === "process/output") bytes += Math.floor((params.chunk.length * 3) / 4);
            else if (method === "process/closed") resolve(listeners.delete(processId));
          },
        });
        answer.catch(reject);
      });
      return bytes;
    },
    async close() {
      await peer.close({ deadlineMs: 200 });
      for (const each of new Set([pid, child.pid])) tryKill(each);
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
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

/** Private memory, MB. */
export function privateMegabytes(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kilobytes = [...rollup.matchAll(/^Private_\w+:\s+(\d+)/gm)].reduce((sum, match) => sum + Number(match[1]), 0);
  return kilobytes / 1024;
}

export const threadsOf = (pid) => Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
