import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createNative, readPipe, readProcessStat } from "../../src/index.js";
import { MAX_ENLARGED_PIPES } from "../../src/limits.js";

const SYSTEM_BYTES = 64 * 1024;
const LARGE_BYTES = 256 * 1024;
const READ_BYTES = 128 * 1024;

/** An end for writing that does not block, in place of this one. */
function unblock(write: number): number {
  const unblocked = openSync(`/proc/self/fd/${write}`, constants.O_WRONLY | constants.O_NONBLOCK);
  closeSync(write);
  return unblocked;
}

describe.runIf(process.platform === "linux")("a pipe", () => {
  const content = Buffer.from(Array.from({ length: 2 * LARGE_BYTES }, (_, at) => at % 251));

  it("of a flood is enlarged, and read in large chunks", async () => {
    const native = createNative(undefined, { outputPipeBytes: LARGE_BYTES, outputReadBytes: READ_BYTES });
    const { read, write } = native.openPipe();
    const end = unblock(write);
    const chunks: Buffer[] = [];
    const source = readPipe(read, native.readMemory, {
      onBytes(chunk) {
        source.pause();
        chunks.push(Buffer.from(chunk));
      },
      onEnd() {},
    });
    const next = async () => {
      const before = chunks.length;
      source.resume();
      while (chunks.length === before) await nextTurn();
      return chunks.at(-1)!.length;
    };
    expect(writeSync(end, content)).toBe(SYSTEM_BYTES);
    expect(await next()).toBe(SYSTEM_BYTES);
    expect(writeSync(end, content, SYSTEM_BYTES)).toBe(LARGE_BYTES);
    expect([await next(), await next()]).toEqual([READ_BYTES, READ_BYTES]);
    expect(Buffer.concat(chunks).equals(content.subarray(0, SYSTEM_BYTES + LARGE_BYTES))).toBe(true);
    source.close();
    closeSync(end);
  });

  it("wakes a writer that waits for room when it is enlarged", async () => {
    const native = createNative(undefined, { outputPipeBytes: LARGE_BYTES });
    const { read, write } = native.openPipe();
    const program = spawn("head", ["-c", String(LARGE_BYTES), "/dev/zero"], { stdio: ["ignore", write, "inherit"] });
    closeSync(write);
    const exited = once(program, "exit");
    // Until it sleeps, which it does only once the pipe is full.
    while (readProcessStat(program.pid!)?.state !== "S") await nextTurn();
    native.enlargePipe(read);
    expect((await exited)[0]).toBe(0);
    closeSync(read);
  });

  it("is enlarged while few others are", () => {
    const native = createNative(undefined, { outputPipeBytes: LARGE_BYTES });
    const open = () => {
      const { read, write } = native.openPipe();
      native.enlargePipe(read);
      return { read, end: unblock(write) };
    };
    const pipes = Array.from({ length: MAX_ENLARGED_PIPES + 1 }, open);
    const beyond = pipes.at(-1)!;
    expect(writeSync(beyond.end, content)).toBe(SYSTEM_BYTES);
    closeSync(pipes[0]!.read);
    native.enlargePipe(beyond.read);
    expect(writeSync(beyond.end, content)).toBe(LARGE_BYTES - SYSTEM_BYTES);
    for (const { read, end } of pipes) {
      if (read !== pipes[0]!.read) closeSync(read);
      closeSync(end);
    }
  });
});
