// The floor without our channel and sessions: reads a pipe directly into memory that it uses again, keeps the last bytes, writes
// frames to stdout with node:net, and waits for acknowledgements. `node direct.mjs KIB PROGRAM [ARG…]`, where KIB is the capacity of the
// pipe and the size of a read; it begins with the first line that it gets.
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { createNative, readPipe } from "@codex/native";

const [kib, program, ...args] = process.argv.slice(2);
const READ_BYTES = Number(kib) * 1024;
const KEPT_BYTES = 4 * READ_BYTES;
const WINDOW_BYTES = 2 * READ_BYTES;
/** As `codec/binary-frame.ts` of `@codex/channel` describes it: mark, length of the head, length of the body, an empty head. */
const FRAME_START_BYTES = 7;

const output = new Socket({ fd: 1, readable: false, writable: true });
const kept = [];
let [keptBytes, sent, written, acknowledged] = [0, 0, 0, 0];
let source;
let readMemory;

createInterface({ input: process.stdin })
  .once("line", begin)
  .on("line", (line) => {
    acknowledged = JSON.parse(line).acknowledged ?? 0;
    update();
  })
  .once("close", () => process.exit());

function begin() {
  const native = createNative(undefined, { outputPipeBytes: READ_BYTES, outputReadBytes: READ_BYTES });
  readMemory = native.readMemory;
  const { read, write } = native.openPipe();
  spawn(program, args, { stdio: ["ignore", write, "inherit"] });
  closeSync(write);
  source = readPipe(read, readMemory, {
    onBytes,
    onEnd: () => output.write(`${JSON.stringify({ ended: sent })}\n`),
  });
}

function onBytes(bytes) {
  const start = Buffer.alloc(FRAME_START_BYTES);
  start.writeUInt32BE(bytes.length, 3);
  sent += bytes.length;
  kept.push(bytes);
  keptBytes += bytes.length;
  output.cork();
  output.write(start);
  output.write(bytes, () => {
    written += bytes.length;
    update();
  });
  output.uncork();
  update();
}

function update() {
  while (keptBytes > KEPT_BYTES && sent - keptBytes + kept[0].length <= written) {
    const bytes = kept.shift();
    keptBytes -= bytes.length;
    readMemory.pipeChunks.release(bytes);
  }
  if (sent - Math.min(written, acknowledged) >= WINDOW_BYTES) source?.pause();
  else source?.resume();
}
