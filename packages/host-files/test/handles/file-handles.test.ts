import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { base64, callFiles, useFiles } from "../support.js";

const files = useFiles();
const open = (handleId: string, name: string, mode = "read") =>
  files.call("open", { handleId, path: files.url(name), mode });
const readBlock = (handleId: string, offset: number, len: number) => files.call("readBlock", { handleId, offset, len });
const writeBlock = (handleId: string, offset: number, text: string) =>
  files.call("writeBlock", { handleId, offset, chunk: base64(text) });
const close = (handleId: string) => files.call("close", { handleId });
const contentOf = (name: string) => readFileSync(files.path(name), "utf8");
const leftovers = () => readdirSync(files.root).filter((name) => name.startsWith(".codex-replace"));

describe("reading in blocks", () => {
  it("reports eof only for a block shorter than requested", async () => {
    expect(await open("h", "link")).toEqual({ handleId: "h" });
    expect(await readBlock("h", 0, 5)).toEqual({ chunk: base64("hello"), eof: false });
    expect(await readBlock("h", 0, 6)).toEqual({ chunk: base64("hello"), eof: true });
    expect(await readBlock("h", 3, 2)).toEqual({ chunk: base64("lo"), eof: false });
    expect(await readBlock("h", 5, 1)).toEqual({ chunk: "", eof: true });
    expect(await readBlock("h", 2 ** 52, 1)).toEqual({ chunk: "", eof: true });
    expect(await readBlock("h", 0, 1_048_576)).toEqual({ chunk: base64("hello"), eof: true });
  });

  it("keeps reading the file it opened after a rename", async () => {
    await open("h", "f.txt");
    await files.call("remove", { path: files.url("f.txt") });
    expect(await readBlock("h", 0, 9)).toEqual({ chunk: base64("hello"), eof: true });
  });

  it("has limits", async () => {
    const length = { code: -32600, message: "file read block length must be between 1 and 1048576" };
    expect(await readBlock("nope", 0, 0)).toEqual(length);
    expect(await readBlock("nope", 0, 1_048_577)).toEqual(length);
    const unknown = { code: -32004, message: "unknown file handle `nope`" };
    expect(await readBlock("nope", 0, 1)).toEqual(unknown);
    expect(await writeBlock("nope", 0, "x")).toEqual(unknown);
    expect(await close("nope")).toEqual({});
  });

  it("opens only regular files", async () => {
    execFileSync("mkfifo", [files.path("fifo")]);
    for (const name of ["sub", "fifo"]) {
      for (const mode of ["read", "replace"]) expect(await open("h", name, mode)).toHaveProperty("code");
    }
    expect(await files.call("open", { handleId: "h", path: "file:///dev/zero" })).toHaveProperty("code", -32600);
    const device = { handleId: "h", path: "file:///dev/null", mode: "replace" };
    expect(await files.call("open", device)).toEqual({ code: -32600, message: "path `/dev/null` is not a file" });
    expect(await open("h", "missing")).toHaveProperty("code", -32004);
    expect(await open("h", "nodir/x", "replace")).toHaveProperty("code", -32004);
    expect(await open("h", "f.txt/x", "replace")).toHaveProperty("code", -32603);
  });
});

describe("handles", () => {
  it("have ids of at most 32 bytes, unique while open", async () => {
    const tooLong = { code: -32600, message: "file handle ID must not exceed 32 bytes" };
    expect(await open("x".repeat(33), "f.txt")).toEqual(tooLong);
    expect(await open("é".repeat(17), "f.txt")).toEqual(tooLong);
    expect(await open("x".repeat(32), "f.txt")).toHaveProperty("handleId");
    expect(await open("", "f.txt")).toEqual({ handleId: "" });
    expect(await open("", "f.txt")).toEqual({ code: -32600, message: "file handle `` already exists" });
    expect(await close("")).toEqual({});
    expect(await open("", "f.txt")).toEqual({ handleId: "" });
  });

  it("are 128 at most", async () => {
    for (let index = 0; index < 128; index += 1) await open(String(index), "f.txt");
    const full = { code: -32600, message: "at most 128 file handles may be open per connection" };
    expect(await open("one more", "f.txt")).toEqual(full);
    expect(await open("one more", "new", "replace")).toEqual(full);
    await close("7");
    expect(await open("one more", "f.txt")).toEqual({ handleId: "one more" });
  });

  it("belong to their connection", async () => {
    await open("h", "f.txt");
    const other = files.connect();
    expect(await callFiles(other, "readBlock", { handleId: "h", offset: 0, len: 1 })).toHaveProperty("code", -32004);
    expect(await callFiles(other, "open", { handleId: "h", path: files.url("f.txt") })).toEqual({ handleId: "h" });
  });

  it("work when all requests are pipelined", async () => {
    const answers = await Promise.all([
      open("w", "new", "replace"),
      writeBlock("w", 2, "cd"),
      writeBlock("w", 0, "ab"),
      close("w"),
      open("r", "new"),
      readBlock("r", 0, 9),
      close("r"),
    ]);
    expect(answers).toEqual([
      { handleId: "w" },
      {},
      {},
      {},
      { handleId: "r" },
      { chunk: base64("abcd"), eof: true },
      {},
    ]);
  });
});

describe("replacing", () => {
  it("shows the old content to everybody else until the commit", async () => {
    const { connection } = files;
    const other = files.connect();
    const readBy = (reader: typeof other) => callFiles(reader, "readFile", { path: files.url("link") });
    await open("w", "link", "replace");
    await writeBlock("w", 0, "AB");
    await writeBlock("w", 4, "CD");
    expect(contentOf("f.txt")).toBe("hello");
    expect(await readBy(other)).toEqual({ dataBase64: base64("hello") });
    expect(await readBy(connection)).toEqual({ dataBase64: base64("AB\0\0CD") });
    expect(await close("w")).toEqual({});
    expect(contentOf("f.txt")).toBe("AB\0\0CD");
    expect(await readBy(other)).toEqual({ dataBase64: base64("AB\0\0CD") });
    expect(lstatSync(files.path("link")).isSymbolicLink()).toBe(true);
    expect(leftovers()).toEqual([]);
  });

  it("keeps the old content when the connection ends", async () => {
    await open("w", "f.txt", "replace");
    await open("n", "new", "replace");
    await writeBlock("w", 0, "half");
    await writeBlock("n", 0, "half");
    expect(leftovers()).toHaveLength(2);
    await files.connection.dispose();
    expect(contentOf("f.txt")).toBe("hello");
    expect(existsSync(files.path("new"))).toBe(false);
    expect(leftovers()).toEqual([]);
  });

  it("keeps permissions, and gives new files the default ones", async () => {
    chmodSync(files.path("f.txt"), 0o640);
    await open("w", "f.txt", "replace");
    await open("n", "dangling", "replace");
    await close("w");
    await close("n");
    expect(statSync(files.path("f.txt"))).toMatchObject({ size: 0 });
    expect(statSync(files.path("f.txt")).mode & 0o777).toBe(0o640);
    expect(statSync(files.path("missing")).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(lstatSync(files.path("dangling")).isSymbolicLink()).toBe(true);
  });

  it("keeps the file the same one, and its hard links", async () => {
    linkSync(files.path("f.txt"), files.path("hard"));
    const { ino } = statSync(files.path("f.txt"));
    for (const text of ["longer than before", "s"]) {
      await open("w", "f.txt", "replace");
      await writeBlock("w", 0, text);
      expect(contentOf("hard")).not.toBe(text);
      expect(await close("w")).toEqual({});
      expect([contentOf("f.txt"), contentOf("hard")]).toEqual([text, text]);
    }
    expect(statSync(files.path("f.txt")).ino).toBe(ino);
    expect(leftovers()).toEqual([]);
  });

  it("creates a file that is removed meanwhile, no more accessible than it was", async () => {
    chmodSync(files.path("f.txt"), 0o600);
    await open("w", "f.txt", "replace");
    await writeBlock("w", 0, "new");
    await files.call("remove", { path: files.url("f.txt") });
    expect(await close("w")).toEqual({});
    expect([contentOf("f.txt"), statSync(files.path("f.txt")).mode & 0o777]).toEqual(["new", 0o600]);
    expect(leftovers()).toEqual([]);
  });

  it("refuses reads through its handle, and writes through a handle for reading", async () => {
    await open("w", "f.txt", "replace");
    await open("r", "sub/g.txt");
    const bad = { code: -32603, message: expect.stringContaining("Bad file descriptor (os error 9)") };
    expect(await readBlock("w", 0, 1)).toEqual(bad);
    expect(await writeBlock("r", 0, "x")).toEqual(bad);
    expect(await readBlock("r", 0, 1)).toEqual({ chunk: base64("g"), eof: false });
  });

  it("takes blocks of 1 to 1048576 bytes", async () => {
    await open("w", "f.txt", "replace");
    const length = { code: -32600, message: "file write block length must be between 1 and 1048576" };
    expect(await writeBlock("w", 0, "")).toEqual(length);
    expect(await writeBlock("w", 0, "x".repeat(1_048_577))).toEqual(length);
    expect(await writeBlock("w", 0, "x".repeat(1_048_576))).toEqual({});
    await close("w");
    expect(statSync(files.path("f.txt")).size).toBe(1_048_576);
  });

  it("is discarded when a write fails", async () => {
    await open("w", "f.txt", "replace");
    await writeBlock("w", 0, "half");
    // No file can be that large.
    expect(await writeBlock("w", 2 ** 53 - 2, "x")).toHaveProperty("code");
    expect(await close("w")).toEqual({});
    expect(contentOf("f.txt")).toBe("hello");
    expect(leftovers()).toEqual([]);
  });

  it("reports an error when the rename fails", async () => {
    await open("w", "empty/new", "replace");
    await files.call("remove", { path: files.url("empty") });
    expect(await close("w")).toHaveProperty("code", -32004);
    writeFileSync(files.path("empty"), "");
    expect(leftovers()).toEqual([]);
  });
});

it("never makes new content readable to a user who may not read the old one", async () => {
  chmodSync(files.path("f.txt"), 0o600);
  // Looks as often as it can, from another thread.
  const source = `
    const { lstatSync, readdirSync } = require("node:fs");
    const { parentPort, workerData: { root, stop } } = require("node:worker_threads");
    const seen = new Set();
    parentPort.postMessage("ready");
    while (Atomics.load(stop, 0) === 0) {
      for (const name of readdirSync(root)) {
        if (!name.startsWith(".codex-replace")) continue;
        const mode = lstatSync(root + "/" + name, { throwIfNoEntry: false })?.mode;
        if (mode !== undefined) seen.add(mode & 0o777);
      }
    }
    parentPort.postMessage([...seen]);`;
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(source, { eval: true, workerData: { root: files.root, stop } });
  await once(worker, "message");
  for (let round = 0; round < 300; round += 1) {
    await open("h", "f.txt", "replace");
    await close("h");
  }
  Atomics.store(stop, 0, 1);
  const [seen] = (await once(worker, "message")) as [number[]];
  expect(seen).toEqual([0o600]);
  expect(lstatSync(files.path("f.txt")).mode & 0o777).toBe(0o600);
});
