// What is soaked: our executor through the orchestrator, and our exec-server through its client, both behind a websocket
// whose connections are cut again and again without anybody noticing. Either runs a program to its end and delivers its bytes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import { createOrchestrator } from "@codex/orchestrator";
import { codex } from "../harness.mjs";
import { createCutter } from "./cutter.mjs";

const ENV = { PATH: "/usr/bin:/bin", TERM: "dumb", HISTFILE: "/dev/null" };

async function startServer(args, mark) {
  const env = { ...process.env, SOAK: mark };
  const child = spawn(process.execPath, [codex, ...args, "--listen", "ws://127.0.0.1:0"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  const stop = async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    process.off("exit", kill);
  };
  return { pid: child.pid, url, stop, kill };
}

/** A server behind a proxy that cuts connections; `close` ends both. */
async function openServer(args, mark) {
  const server = await startServer(args, mark);
  const cutter = await createCutter(server.url);
  let timer;
  return {
    pid: server.pid,
    kill: server.kill,
    url: cutter.url,
    getCuts: () => cutter.cuts,
    beginCuts(everyMs) {
      timer = setInterval(() => cutter.cut(), everyMs);
    },
    endCuts: () => clearInterval(timer),
    async close() {
      await cutter.close();
      await server.stop();
    },
  };
}

/** `run` resolves with how the program ended; `onBytes` gets its output in order; `onStart` a way to act on it. */
export async function openExecutor(mark) {
  const server = await openServer(["executor", "--max-sessions", "400"], mark);
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  await orchestrator.attach({ name: "soak", reconnect: (signal) => connectWebSocketChannel(server.url, { signal }) });
  return {
    ...server,
    name: "executor",
    async run(argv, { tty = false, onBytes, onStart = () => {} }) {
      const running = orchestrator.runCommand(
        { argv, cwd: "/", env: { ...ENV, SOAK: mark }, tty, stdin: "open" },
        { onOutput: ({ bytes }) => onBytes(bytes) },
      );
      onStart({
        write: (text) => running.write(Buffer.from(text)),
        kill: () => running.signal("kill"),
      });
      const end = await running.ended;
      return end.kind === "ended" ? end.outcome : { kind: end.kind, reason: end.reason };
    },
    async close() {
      server.endCuts();
      await orchestrator.close();
      await server.close();
    },
  };
}

export async function openExecServer(mark) {
  const server = await openServer(["exec-server"], mark);
  const client = await ExecServerClient.connectWebSocket(server.url);
  const backend = createRemoteBackend(client);
  return {
    ...server,
    name: "exec-server",
    async run(argv, { tty = false, onBytes, onStart = () => {} }) {
      const stdio = tty ? { kind: "pty" } : { kind: "pipe", stdin: "open" };
      const program = await startAgain(backend, { argv, cwd: "/", env: { ...ENV, SOAK: mark }, stdio });
      onStart({
        write: (text) => program.write(Buffer.from(text)),
        kill: () => program.terminate({ graceMs: 0 }),
      });
      for await (const { bytes } of program.log.follow()) onBytes(bytes);
      await program.closed;
      program.dispose();
      return program.outcome;
    },
    async close() {
      server.endCuts();
      await backend.close();
      await client.close();
      await server.close();
    },
  };
}

/** A start whose answer was cut off is an error by contract; what it started is ended by the client. */
async function startAgain(backend, spec) {
  for (;;) {
    try {
      return await backend.start(spec);
    } catch (error) {
      if (error.code !== "connection_lost" && error.name !== "UnknownStartError") throw error;
    }
  }
}
