// Through a process that does nothing but relay, to this one, which only counts: what the topology costs in Node.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";

const relay = fileURLToPath(new URL("./relay.mjs", import.meta.url));

/** Milliseconds from the request until everything was received and the relay has said that it is over. */
export const runRelay = (kind, command) => (kind === "stdio" ? overPipe(command) : overWebSocket(command));

async function overPipe(command) {
  const child = spawn(process.execPath, [relay, "stdio", ...command], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  let bytes = 0;
  child.stdout.on("data", (chunk) => {
    bytes += chunk.length;
  });
  const start = performance.now();
  child.stdin.write("g");
  await once(child.stdout, "end");
  const ms = performance.now() - start;
  await ended;
  check(bytes, command);
  return ms;
}

async function overWebSocket(command) {
  const child = spawn(process.execPath, [relay, "websocket", ...command], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [port] = await once(child.stdout, "data");
  const socket = new WebSocket(`ws://127.0.0.1:${String(port).trim()}`, { perMessageDeflate: false });
  await once(socket, "open");
  let bytes = 0;
  socket.on("message", (chunk) => {
    bytes += chunk.length;
  });
  const start = performance.now();
  socket.send("g");
  await once(socket, "close");
  const ms = performance.now() - start;
  await ended;
  check(bytes, command);
  return ms;
}

function check(bytes, command) {
  if (bytes < Number(command[2])) throw new Error(`${bytes} of ${command[2]} bytes`);
}
