import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { WriteError } from "@codex/exec-backend";
import { describe, expect, it } from "vitest";
import { outputOf, untilOutput, useBackend } from "./support.js";

const TEN_MB = 10_000_000;
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const openPipe = { kind: "pipe", stdin: "open" } as const;
const terminal = { kind: "pty" } as const;

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // the descriptor of the listing itself
  }
}

describe("writing to stdin", () => {
  const host = useBackend();

  it("delivers 10 MB whole and in order to a program on a raw terminal", async () => {
    const script = [
      "import hashlib, os, tty",
      "tty.setraw(0)",
      "os.write(1, b'ready')",
      `digest, left = hashlib.sha256(), ${TEN_MB}`,
      "while left:",
      "    data = os.read(0, 65536)",
      "    digest.update(data); left -= len(data)",
      "print(digest.hexdigest())",
    ].join("\n");
    const process = await host.run(["python3", "-c", script], { stdio: terminal });
    await untilOutput(process, "ready");
    const input = randomBytes(TEN_MB);
    const third = Math.ceil(TEN_MB / 3);
    await Promise.all([0, 1, 2].map((part) => process.write(input.subarray(part * third, (part + 1) * third))));
    expect(await outputOf(process)).toContain(sha256(input));
  });

  it("delivers 10 MB whole and in order to an open pipe", async () => {
    const process = await host.run(["sha256sum"], { stdio: openPipe });
    const input = randomBytes(TEN_MB);
    await process.write(input);
    await process.closeStdin();
    expect(await outputOf(process)).toContain(sha256(input));
  });

  it("waits for a program that does not read, and tells how much was taken when it dies", async () => {
    for (const stdio of [openPipe, terminal]) {
      const process = await host.run(["sh", "-c", "stty raw 2>/dev/null; echo ready; exec sleep 100"], { stdio });
      await untilOutput(process, "ready");
      const write = process.write(randomBytes(4_000_000)).catch((error: unknown) => error);
      await process.terminate({ graceMs: 0 });
      const error = await write;
      expect(error).toBeInstanceOf(WriteError);
      const { written } = error as WriteError;
      expect(written).toBeGreaterThanOrEqual(0);
      expect(written).toBeLessThan(4_000_000);
    }
  });

  it("goes through the line discipline of a terminal", async () => {
    const process = await host.run(["sh", "-c", "echo ready; cat; exec sleep 100"], { stdio: terminal });
    await untilOutput(process, "ready");
    await process.write(Buffer.from("line\n"));
    await untilOutput(process, "line\r\nline\r\n");
    await process.closeStdin(); // ends `cat`, not the terminal
    await process.signal("SIGINT");
    expect(await process.exited).toEqual({ kind: "signaled", signal: "SIGINT", by: "terminate" });
  });

  it("finds the echo of a key at once, as a rule: the kernel echoes while the key is written", async () => {
    const process = await host.run(["sh", "-c", "echo ready; exec sleep 100"], { stdio: terminal });
    await untilOutput(process, "ready");
    let atOnce = 0;
    // On a busy host the kernel's worker that echoes comes late, for many keys in turn.
    for (let key = 1; atOnce === 0 && key <= 5_000; key++) {
      const before = process.log.end;
      const written = process.write(Buffer.from("x"));
      if (process.log.end > before) atOnce++;
      await written;
      await process.log.waitFor(before);
    }
    expect(atOnce).toBeGreaterThan(0);
  });

  it("reads no echo while output is held back", async () => {
    const process = await host.run(["sh", "-c", "echo ready; exec cat"], { stdio: terminal });
    await untilOutput(process, "ready\r\n");
    const hold = process.log.hold(process.log.end, 0);
    const echoed = process.log.waitFor(process.log.end);
    await process.write(Buffer.from("x"));
    await echoed;
    const before = process.log.end;
    for (let key = 0; key < 100; key++) await process.write(Buffer.from("y"));
    expect(process.log.end - before).toBeLessThanOrEqual(1);
    hold.release();
    await untilOutput(process, `x${"y".repeat(100)}`);
  });

  it("interrupts with the character for it", async () => {
    const process = await host.run(["sh", "-c", "echo ready; exec sleep 100"], { stdio: terminal });
    await untilOutput(process, "ready");
    await process.write(Buffer.from("\u0003"));
    expect(await process.exited).toEqual({ kind: "signaled", signal: "SIGINT", by: "self" });
  });

  it("fails on /dev/null, after closeStdin, and after the exit", async () => {
    const byte = new Uint8Array(1);
    const closed = await host.run(["sleep", "100"]);
    await expect(closed.write(byte)).rejects.toMatchObject({ code: "stdin_closed", written: 0 });
    const ended = await host.run(["cat"], { stdio: openPipe });
    await ended.closeStdin();
    await expect(ended.write(byte)).rejects.toMatchObject({ code: "stdin_closed", written: 0 });
    const exited = await host.run(["true"], { stdio: terminal });
    await exited.closed;
    await expect(exited.write(byte)).rejects.toMatchObject({ code: "exited", written: 0 });
  });

  it.skipIf(process.platform !== "linux")("holds no descriptor once nobody is left to read", async () => {
    const countPipes = () =>
      readdirSync("/proc/self/fd").filter((fd) => readLink(`/proc/self/fd/${fd}`).startsWith("pipe:")).length;
    const first = await host.run(["true"], { stdio: openPipe });
    await first.closed;
    await nextTurn();
    const before = countPipes();
    for (let count = 0; count < 20; count++) await (await host.run(["true"], { stdio: openPipe })).closed;
    await nextTurn(); // a stream closes its descriptor in the turn after
    expect(countPipes()).toBe(before);
    await expect(first.write(new Uint8Array(1))).rejects.toMatchObject({ code: "stdin_closed", written: 0 });
  });

  it("takes at most 64 MiB at once", async () => {
    const process = await host.run(["cat"], { stdio: openPipe });
    const write = process.write(new Uint8Array(64 * 1024 * 1024 + 1));
    await expect(write).rejects.toThrow("a write has 67108865 bytes; the limit is 67108864 bytes");
  });
});
