import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { DirectoryEntry } from "@codex/exec-server-protocol";
import { createEntryReader, type EntryReader } from "@codex/native";
import { describe, expect, it } from "vitest";
import { DIRECTORY_RECORDS_BYTES, LARGE_LISTING_BYTES, LARGE_LISTING_ENTRIES } from "../../src/limits.js";
import { EntryListEncoder, encodeFacts } from "../../src/operations/entry-list-encoder.js";
import { readDirectory } from "../../src/operations/read-directory.js";
import { useFiles } from "../support.js";

const files = useFiles();
const MANY = 5000;

interface CountedReader extends EntryReader {
  /** What each read returned. */
  readonly reads: number[];
}

async function createReader(): Promise<CountedReader> {
  const reader = createEntryReader();
  for (let turn = 0; turn < 5 && !reader.isReady(); turn += 1) await setImmediate();
  const reads: number[] = [];
  return {
    reads,
    isReady: () => reader.isReady(),
    read: async (directory, into) => {
      const bytes = await reader.read(directory, into);
      reads.push(bytes);
      return bytes;
    },
  };
}

const isSupported = (await createReader()).isReady();

async function list(path: string | Buffer, reader: EntryReader | undefined, extended: boolean, most = 100_000) {
  try {
    const json = await readDirectory({ path, sandbox: undefined, extended }, { maxEntries: most, reader });
    return (JSON.parse(json.toString()) as { entries: DirectoryEntry[] }).entries;
  } catch (error) {
    return String(error);
  }
}

async function expectSame(path: string | Buffer): Promise<void> {
  for (const extended of [false, true]) {
    expect(await list(path, await createReader(), extended)).toEqual(await list(path, undefined, extended));
  }
}

describe("the native reader and Node list a directory alike", () => {
  it("with every kind of entry and name", async () => {
    const names = [
      ".hidden",
      "..two",
      "...",
      'quo"te',
      "back\\slash",
      "tab\t",
      "line\n",
      "\x7f",
      "ä€😀",
      "sp ace",
      "x".repeat(255),
    ];
    for (const name of names) writeFileSync(files.path(name), "");
    writeFileSync(Buffer.concat([Buffer.from(`${files.root}/bad`), Buffer.from([0xff, 0xfe])]), "");
    symlinkSync("sub", files.path("dlink"));
    symlinkSync("loop", files.path("loop"));
    symlinkSync("f.txt", Buffer.concat([Buffer.from(`${files.root}/badlink`), Buffer.from([0xff])]));
    execFileSync("mkfifo", [files.path("fifo")]);
    const server = createServer().listen(files.path("socket"));
    await once(server, "listening");
    await expectSame(files.root);
    const told = await list(files.root, await createReader(), true);
    expect(told).toHaveLength(readdirSync(files.root).length);
    await new Promise((resolve) => server.close(resolve));
  });

  it("with more entries than one system call returns", { timeout: 120_000 }, async () => {
    for (let index = 0; index < MANY; index += 1) writeFileSync(files.path(`empty/file-${index}`), "");
    await expectSame(files.path("empty"));
    const reader = await createReader();
    expect(await list(files.path("empty"), reader, false)).toHaveLength(MANY);
    if (isSupported) expect(Math.max(...reader.reads)).toBeLessThanOrEqual(DIRECTORY_RECORDS_BYTES);
    if (isSupported) expect(reader.reads.length).toBeGreaterThan(2);
  });

  it("for a file, a missing path and a directory of the system", async () => {
    symlinkSync("sub", files.path("dlink"));
    symlinkSync("loop", files.path("loop"));
    for (const name of ["empty", "dlink", "f.txt", "link", "missing", "loop", "x".repeat(256)]) {
      await expectSame(files.path(name));
    }
    mkdirSync(Buffer.concat([Buffer.from(`${files.root}/dir`), Buffer.from([0xff])]));
    await expectSame(Buffer.concat([Buffer.from(`${files.root}/dir`), Buffer.from([0xff])]));
    for (const path of ["/", "/dev", "/etc", "/usr/bin"]) await expectSame(path);
  });
});

it.runIf(isSupported)("the limit of entries, and one more", async () => {
  const reader = await createReader();
  expect(await list(files.path("sub"), reader, false, 2)).toHaveLength(2);
  expect(await list(files.path("sub"), reader, false, 1)).toBe(
    "RpcError: directory has more entries than the limit of 1",
  );
});

it("falls back to Node where the native reader fails, and leaks no descriptor", async () => {
  const count = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);
  const before = count();
  const answers = [-1, 0].map((bytes) => ({ isReady: () => true, read: async () => bytes }));
  expect(await list(files.path("sub"), answers[0], false)).toHaveLength(2);
  expect(await list(files.path("sub"), answers[1], false)).toEqual([]);
  expect(count()).toBe(before);
});

it("an entry of an unknown kind makes Node read the directory", async () => {
  const record = Buffer.alloc(24);
  record.writeUInt16LE(24, 16);
  record.write("name", 19);
  let reads = 0;
  const reader = {
    isReady: () => true,
    read: async (_fd: number, into: Buffer) => (reads++ === 0 ? record.copy(into) : 0),
  };
  expect(await list(files.path("sub"), reader, false)).toHaveLength(2);
  expect(reads).toBe(1);
});

it("the encoder has room for names longer than Linux allows", () => {
  const facts = encodeFacts({ isDirectory: false, isFile: true });
  const names = ["", "\u0001".repeat(100_000), "plain", "ä".repeat(70_000), ..."z".repeat(3000).split("")];
  const text = new EntryListEncoder();
  for (const name of names) text.add(Buffer.from(name), 0, Buffer.byteLength(name), facts);
  const entries = names.map((fileName) => ({ fileName, isDirectory: false, isFile: true }));
  expect(JSON.parse(text.end().toString())).toEqual({ entries });
  expect(text.count).toBe(names.length);
});

it.each(["the native reader", "Node"])("waits once for memory where a directory is large, with %s", async (by) => {
  const reader = by === "Node" ? undefined : await createReader();
  const listed = async (count: number) => {
    const path = files.path(`with-${count}`);
    mkdirSync(path);
    for (let index = 0; index < count; index += 1) writeFileSync(join(path, `${index}`), "");
    const reserved: number[] = [];
    const reserve = async (bytes: number) => void reserved.push(bytes);
    const json = await readDirectory(
      { path, sandbox: undefined, extended: false },
      { maxEntries: 1e6, reader, reserve },
    );
    expect(JSON.parse(json.toString()).entries).toHaveLength(count);
    return reserved;
  };
  expect(await listed(10)).toEqual([]);
  expect(await listed(3 * LARGE_LISTING_ENTRIES)).toEqual([LARGE_LISTING_BYTES]);
});
