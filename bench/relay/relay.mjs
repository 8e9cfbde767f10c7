// The bare relay: a process that sends on in frames what a program writes, and does nothing else.
// `node relay.mjs stdio|websocket PROGRAM [ARG…]`; it begins with the first byte, or message, that it gets.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { WebSocketServer } from "ws";

/** Most bytes on their way. */
const WINDOW_BYTES = 1024 * 1024;
const FRAME_START_BYTES = 4;

const [kind, program, ...args] = process.argv.slice(2);

if (kind === "stdio") {
  process.stdout.write("r");
  await once(process.stdin, "data");
  process.stdin.destroy();
  relay(writeFrame, () => {});
} else {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  server.on("listening", () => process.stdout.write(`${server.address().port}\n`));
  const [socket] = await once(server, "connection");
  await once(socket, "message");
  const options = { binary: true, compress: false };
  relay(
    (chunk, written) => socket.send(chunk, options, written),
    () => socket.close(),
  );
  server.close();
}

function relay(send, done) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  let waiting = 0;
  child.stdout.on("data", (chunk) => {
    waiting += chunk.length;
    if (waiting >= WINDOW_BYTES) child.stdout.pause();
    send(chunk, () => {
      waiting -= chunk.length;
      if (waiting <= WINDOW_BYTES / 2) child.stdout.resume();
    });
  });
  child.once("close", done);
}

function writeFrame(chunk, written) {
  const start = Buffer.allocUnsafe(FRAME_START_BYTES);
  start.writeUInt32BE(chunk.length);
  process.stdout.cork();
  process.stdout.write(start);
  process.stdout.write(chunk, written);
  process.stdout.uncork();
}
