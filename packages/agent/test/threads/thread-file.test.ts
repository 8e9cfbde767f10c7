import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMessage, type ThreadEntry, ThreadWriteError } from "@codex/agent";
import { expect, it, onTestFinished } from "vitest";
import { DEFAULT_THREAD_LIMITS } from "../../src/limits.js";
import { openLines } from "../../src/threads/line-file.js";
import { openThreadFile } from "../../src/threads/thread-file.js";

const item = (text: string): ThreadEntry => ({ type: "item", item: createMessage("user", text) });
const started = (callId: string): ThreadEntry => ({ type: "call_started", callId, name: "f", environment: "local" });

/** A thread's file on a disk that can be full. */
async function setUp() {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "thread "));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "file.jsonl");
  const disk = { isFull: false };
  const file = await openThreadFile(
    { path, meta: undefined, now: () => 0, limits: DEFAULT_THREAD_LIMITS },
    async (of) => {
      const lines = await openLines(of);
      const write = (line: string) => (disk.isFull ? Promise.reject(new Error("no space left")) : lines.write(line));
      return { size: 0, sync: lines.sync, close: lines.close, write };
    },
  );
  onTestFinished(() => file.close());
  const read = () =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { type: string; payload: { callId?: string; content?: { text: string }[] } })
      .map(({ type, payload }) => payload.callId ?? payload.content?.[0]?.text ?? type);
  return { path, file, disk, read };
}

it("is whole again once there is room, without calls that were not made", async () => {
  const { path, file, disk, read } = await setUp();
  await file.append(item("one"));
  disk.isFull = true;
  const failed = [item("two"), started("c1"), item("three")].map((entry) => file.append(entry));
  for (const each of failed) {
    await expect(each).rejects.toThrow(ThreadWriteError);
    await expect(each).rejects.toThrow(`${path} cannot be written: no space left`);
  }
  expect(read()).toEqual(["one"]);
  disk.isFull = false;
  await file.append(started("c2"));
  expect(read()).toEqual(["one", "two", "three", "c2"]);
});

it("is completed when it is closed, as far as there is room", async () => {
  const full = await setUp();
  full.disk.isFull = true;
  await expect(full.file.append(item("lost"))).rejects.toThrow(ThreadWriteError);
  await full.file.close();
  expect(full.read()).toEqual([]);
  const { file, disk, read } = await setUp();
  disk.isFull = true;
  await expect(file.append(item("one"))).rejects.toThrow(ThreadWriteError);
  disk.isFull = false;
  await file.close();
  expect(read()).toEqual(["one"]);
});
