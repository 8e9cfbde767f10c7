import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Channel, createStdioChannel } from "@codex/channel";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { drain, expectRejection, nextValue, turn } from "../support.js";

let directory: string;
let program: string;
let sharesStdin: string;
let child: ChildProcessByStdio<Writable, Readable, null>;
let channel: Channel;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "channel-test-"));
  program = await bundle("echo.mjs", new URL("../fixtures/echo.ts", import.meta.url));
  sharesStdin = await bundle("shares-stdin.mjs", new URL("../fixtures/shares-stdin.ts", import.meta.url));
});
async function bundle(name: string, entry: URL): Promise<string> {
  const outfile = join(directory, name);
  await build({ entryPoints: [fileURLToPath(entry)], outfile, bundle: true, platform: "node", format: "esm" });
  return outfile;
}
afterAll(() => rmSync(directory, { recursive: true }));

function start(file = program): void {
  child = spawn(process.execPath, [file], { stdio: ["pipe", "pipe", "inherit"] });
  channel = createStdioChannel({ input: child.stdout, output: child.stdin });
}

afterEach(async () => {
  await channel.close({ deadlineMs: 100 });
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
});

test("echoes through a real process, which exits 0 when we close", async () => {
  start();
  const values = [{ a: "é\n" }, "x".repeat(1_000_000), [[1]]];
  const sends = values.map((value) => channel.send(value));
  for (const value of values) expect(await nextValue(channel)).toEqual(value);
  await Promise.all(sends);
  await channel.sendEncoded(Buffer.from("{oops"));
  expect(await nextValue(channel)).toEqual({ problem: expect.stringContaining("not valid JSON") });
  const exited = once(child, "exit");
  await channel.close();
  expect(await exited).toEqual([0, null]);
});

test("what a process wrote before there was a channel comes first, and nothing is missing when it exits", async () => {
  const write = `
    const lines = (from, to) => {
      for (let n = from; n < to; n++) process.stdout.write(JSON.stringify({ n, fill: "f".repeat(n * 20) }) + "\\n");
    };
    lines(0, 2);
    process.stdin.once("data", () => { lines(2, 400); process.stdin.destroy(); });`;
  child = spawn(process.execPath, ["-e", write], { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  await expect.poll(() => child.stdout.readableLength).toBeGreaterThan(0);
  channel = createStdioChannel({ input: child.stdout, output: child.stdin });
  await channel.send({ go: true });
  const received = await drain(channel);
  const values = Array.from({ length: 400 }, (_, n) => ({ n, fill: "f".repeat(n * 20) }));
  expect(received).toEqual(values.map((value) => ({ kind: "value", value })));
  expect(await closed).toEqual([0, null]);
});

test("a process reads on after another has made its stdin blocking", async () => {
  start(sharesStdin);
  expect(await nextValue(channel)).toBe("ready");
  // More than Node reads at once, and less than twice as much.
  await channel.send("x".repeat(100_000));
  expect(await nextValue(channel)).toBe(100_000);
});

test("a process whose input ends responds to everything it has read, including an unterminated line", async () => {
  start();
  for (let n = 0; n < 500; n++) child.stdin.write(`${JSON.stringify({ n })}\n`);
  child.stdin.end('{"n":500}');
  const received = await drain(channel);
  expect(received).toEqual(Array.from({ length: 501 }, (_, n) => ({ kind: "value", value: { n } })));
  expect((await channel.closed).kind).toBe("peer_closed");
});

test("a process that stops reading blocks the sender", async () => {
  start();
  await channel.send({ stop: true });
  const fill = "f".repeat(64 * 1024);
  let accepted = 0;
  const sending = (async () => {
    for (; accepted < 1024; accepted++) await channel.send(fill);
  })();
  for (let still = 0, last = -1; still < 5_000; still++) {
    if (accepted !== last) still = 0;
    last = accepted;
    await turn();
  }
  expect(accepted * fill.length).toBeLessThan(12 * 1024 * 1024);
  child.kill("SIGKILL");
  await expectRejection(sending, "closed", /./);
  expect(await channel.receive()).toBeUndefined();
});

test("a process that is killed ends the channel", async () => {
  start();
  await channel.send("ready");
  expect(await nextValue(channel)).toBe("ready");
  child.kill("SIGKILL");
  expect(await channel.receive()).toBeUndefined();
  expect((await channel.closed).kind).toBe("peer_closed");
});
