// Through a process that does nothing but relay, to this one, which only counts: what the topology costs in Node.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createStdioChannel } from "@codex/channel";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { WebSocket } from "ws";

const relay = fileURLToPath(new URL("./relay.mjs", import.meta.url));

/** Milliseconds from the request until everything was received and the relay has said that it is over. */
export const runRelay = (kind, stdio, command) =>
  kind === "stdio" ? overPipe(stdio, command) : overWebSocket(stdio, command);

const floor = fileURLToPath(new URL("./floor.mjs", import.meta.url));
const ACK_BYTES = 256 * 1024;

/** The same through the least that an executor can do. */
export async function runFloor(kind, command) {
  const stdio = [kind === "stdio" ? "pipe" : "ignore", "pipe", "inherit"];
  const child = spawn(process.execPath, [floor, kind, ...command], { stdio });
  const ended = once(child, "exit");
  const channel =
    kind === "stdio"
      ? createStdioChannel({ input: child.stdout, output: child.stdin })
      : await connectWebSocketChannel(String((await once(child.stdout, "data"))[0]).trim());
  const { bytes, ms } = await receiveOutput(channel, ACK_BYTES);
  await ended;
  check(bytes, command);
  return ms;
}

/** Begins, and acknowledges each `ackBytes` of what arrives in binary frames until the end; closes the channel. */
export async function receiveOutput(channel, ackBytes) {
  channel.binary.accept();
  const start = performance.now();
  await channel.send("begin");
  let bytes = 0;
  let acknowledged = 0;
  for (let part = await channel.receive(); part.kind === "bytes"; part = await channel.receive()) {
    bytes += part.bytes.length;
    if (bytes - acknowledged < ackBytes) continue;
    acknowledged = bytes;
    void channel.send({ acknowledged });
  }
  const ms = performance.now() - start;
  await channel.close();
  return { bytes, ms };
}

async function overPipe(stdio, command) {
  const child = spawn(process.execPath, [relay, "stdio", stdio, ...command], { stdio: ["pipe", "pipe", "inherit"] });
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
  if (stdio === "pipes") check(bytes, command); // node-pty can lose a terminal's last bytes
  return ms;
}

async function overWebSocket(stdio, command) {
  const child = spawn(process.execPath, [relay, "websocket", stdio, ...command], {
    stdio: ["ignore", "pipe", "inherit"],
  });
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
  if (stdio === "pipes") check(bytes, command); // node-pty can lose a terminal's last bytes
  return ms;
}

function check(bytes, command) {
  if (bytes < Number(command[2])) throw new Error(`${bytes} of ${command[2]} bytes`);
}
