import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { codex, codexWords } from "./support.js";

/** Numbers from 1 that take 31 MB. */
const LINES = 4_000_000;

/** What a pipe of Linux takes while nobody reads it, bytes. */
const PIPE_BYTES = 64 * 1024;

let directory: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "codex-slow-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await once(child, "exit");
  }
  rmSync(directory, { recursive: true });
});

/** `codex run` into a pipe that nobody reads yet. */
function run(script: string) {
  const path = join(directory, "pipe");
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  const args = [codex, "run", "--", "sh", "-c", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", writer, "ignore"] });
  closeSync(writer);
  children.push(child);
  return { child, reader, ended: once(child, "exit") };
}

/** Ticks of processor time, and the most memory that it took, MB. */
function usageOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const peak = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
  return { ticks: Number(fields[11]) + Number(fields[12]), peakMegabytes: Number(peak?.[1]) / 1024 };
}

/** Resolves when a program that goes on has done nothing for half a second. */
async function untilIdle(pid: number): Promise<void> {
  for (let quiet = 0, last = -1; quiet < 10; ) {
    await setTimeout(50);
    const { ticks } = usageOf(pid);
    quiet = ticks === last ? quiet + 1 : 0;
    last = ticks;
  }
}

// A part waits in this process, and is no more than what a stream calls full: 16 KiB, and 64 KiB from Node 22 on.
it.skipIf(process.platform !== "linux").each([1, 4_000, 14_000, 40_000, 60_000, 300_000])(
  "a reader that comes late gets what a pipe takes and %d bytes, and the exit code (needs Linux)",
  async (more) => {
    const { child, reader, ended } = run(`head -c ${PIPE_BYTES + more} /dev/zero; exit 7`);
    await untilIdle(child.pid!);
    let bytes = 0;
    const socket = new Socket({ fd: reader, readable: true, writable: false });
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await once(socket, "close");
    expect(await ended).toEqual([7, null]);
    expect(bytes).toBe(PIPE_BYTES + more);
  },
);

it.skipIf(process.platform !== "linux")("a program waits for a reader that does not read (needs Linux)", async () => {
  const { child, reader } = run("exec head -c 1000000000 /dev/zero");
  await untilIdle(child.pid!);
  expect(child.exitCode).toBe(null);
  expect(usageOf(child.pid!).peakMegabytes).toBeLessThan(250);
  closeSync(reader);
});

// More than is kept in memory and on disk: what was written is written over by what comes later.
it.skipIf(process.platform !== "linux")("a reader that is slow gets every byte as it was (needs Linux)", async () => {
  const { reader, ended } = run(`exec seq ${LINES}`);
  const expected = createHash("sha256");
  for (let line = 1; line <= LINES; line += 1) expected.update(`${line}\n`);
  const found = createHash("sha256");
  const socket = new Socket({ fd: reader, readable: true, writable: false });
  let bytes = 0;
  for await (const chunk of socket) {
    found.update(chunk);
    bytes += chunk.length;
    if (bytes % 7 === 0) await setTimeout(1);
  }
  expect(await ended).toEqual([0, null]);
  expect(found.digest("hex")).toBe(expected.digest("hex"));
});

it.skipIf(process.platform !== "linux")("a program ends when nobody reads what it writes (needs Linux)", async () => {
  const script = `${codexWords} run -- sh -c 'yes; echo "yes ended with $?" >&2' | head -n 2; echo "$PIPESTATUS"`;
  const shell = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "pipe"] });
  children.push(shell);
  expect(await text(shell.stdout)).toBe("y\ny\n129\n");
});
