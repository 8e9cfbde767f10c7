// The least that an executor can do in Node: reads a program's output into memory that it uses again, keeps the last bytes of it,
// sends it in binary frames of a channel, and waits for acknowledgements. No sessions, no spill, no calls.
// `node floor.mjs stdio|websocket PROGRAM [ARG…]`; it begins with the first message that it gets.
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { createStdioChannel } from "@codex/channel";
import { createWebSocketListener } from "@codex/channel/websocket";
import { createNative, readPipe } from "@codex/native";

const PIPE_BYTES = 256 * 1024;
const KEPT_BYTES = 1024 * 1024;
/** Most bytes that are not acknowledged, or not written. */
const WINDOW_BYTES = 512 * 1024;

const [kind, program, ...args] = process.argv.slice(2);

if (kind === "stdio") {
  serve(
    createStdioChannel({ input: process.stdin, output: new Socket({ fd: 1, readable: false, writable: true }) }),
    () => {},
  );
} else {
  const listener = await createWebSocketListener({
    port: 0,
    onChannel: (channel) => serve(channel, () => listener.close()),
  });
  process.stdout.write(`${listener.url}\n`);
}

async function serve(channel, onEnd) {
  await channel.receive();
  const native = createNative(undefined, { outputPipeBytes: PIPE_BYTES, outputReadBytes: PIPE_BYTES });
  const { read, write } = native.openPipe();
  const child = spawn(program, args, { stdio: ["ignore", write, "inherit"] });
  closeSync(write);
  const head = Buffer.alloc(8);
  const kept = [];
  let [keptBytes, sent, written, acknowledged] = [0, 0, 0, 0];
  let isOpen = true;
  const update = () => {
    const waiting = sent - Math.min(written, acknowledged);
    if (waiting > WINDOW_BYTES) source.pause();
    else source.resume();
    // Its memory is used again once it is written.
    while (keptBytes > KEPT_BYTES && kept[0].end <= written) {
      const { bytes } = kept.shift();
      keptBytes -= bytes.length;
      native.readMemory.pipeChunks.release(bytes);
    }
    if (!isOpen && written === sent) void channel.send({ ended: sent });
  };
  const source = readPipe(read, native.readMemory, {
    onBytes(bytes) {
      sent += bytes.length;
      const end = sent;
      kept.push({ bytes, end });
      keptBytes += bytes.length;
      void channel.binary.send(head, bytes, () => {
        // A short frame is copied at once, and so reported before longer ones that were sent earlier.
        written = Math.max(written, end);
        update();
      });
      update();
    },
    onEnd() {
      isOpen = false;
      update();
    },
  });
  child.once("error", (error) => {
    throw error;
  });
  for (let received = await channel.receive(); received !== undefined; received = await channel.receive()) {
    acknowledged = received.value.acknowledged;
    update();
  }
  await channel.close();
  onEnd();
}
