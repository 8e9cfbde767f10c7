// The bare relay: a process that sends on in frames what a program writes, and does nothing else.
// `node relay.mjs stdio|websocket pipes|terminal PROGRAM [ARG…]`; it begins with the first byte, or message, that it gets.
import { spawn } from "node:child_process";
import { once } from "node:events";
import pty from "node-pty";
import { WebSocketServer } from "ws";

/** Most bytes on their way. */
const WINDOW_BYTES = 1024 * 1024;
const FRAME_START_BYTES = 4;

const [kind, stdio, program, ...args] = process.argv.slice(2);

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
  const source = stdio === "terminal" ? openTerminal(done) : openPipe(done);
  let waiting = 0;
  source.onData((chunk) => {
    waiting += chunk.length;
    if (waiting >= WINDOW_BYTES) source.pause();
    send(chunk, () => {
      waiting -= chunk.length;
      if (waiting <= WINDOW_BYTES / 2) source.resume();
    });
  });
}

function openTerminal(done) {
  const terminal = pty.spawn(program, args, { encoding: null });
  terminal.onExit(done);
  return terminal;
}

function openPipe(done) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  child.once("close", done);
  const { stdout } = child;
  return {
    onData: (listener) => stdout.on("data", listener),
    pause: () => stdout.pause(),
    resume: () => stdout.resume(),
  };
}

function writeFrame(chunk, written) {
  const start = Buffer.allocUnsafe(FRAME_START_BYTES);
  start.writeUInt32BE(chunk.length);
  process.stdout.cork();
  process.stdout.write(start);
  process.stdout.write(chunk, written);
  process.stdout.uncork();
}
