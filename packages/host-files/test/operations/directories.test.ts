import { linkSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { callFiles, useFiles } from "../support.js";

const files = useFiles();
const MISSING = { code: -32004, message: expect.stringContaining("No such file or directory (os error 2)") };

describe("getMetadata", () => {
  const get = (name: string, more = {}) => files.call("getMetadata", { path: files.url(name), ...more });

  it("has exactly the members of Codex", async () => {
    utimesSync(files.path("f.txt"), 1, 1_700_000_000.9996);
    const file = { isDirectory: false, isFile: true, size: 5, createdAtMs: 0, modifiedAtMs: 1_700_000_000_999 };
    expect(await get("f.txt")).toEqual({ ...file, isSymlink: false });
    expect(await get("link")).toEqual({ ...file, isSymlink: true });
    expect(await get("sub")).toMatchObject({ isDirectory: true, isFile: false, isSymlink: false });
    expect(await get("missing")).toEqual(MISSING);
    expect(await get("dangling")).toEqual(MISSING);
    expect(await get("f.txt/x")).toMatchObject({ code: -32603 });
  });

  it("reports the creation time with followSymlinks: false", async () => {
    const { birthtimeMs } = statSync(files.path("f.txt"));
    expect(await get("f.txt", { followSymlinks: false })).toMatchObject({
      createdAtMs: Math.floor(birthtimeMs),
      size: 5,
    });
    const refusal = { code: -32600, message: `path contains a symbolic link: ${files.path("link")}` };
    expect(await get("link", { followSymlinks: false })).toEqual(refusal);
    symlinkSync("sub", files.path("dlink"));
    expect(await get("dlink/g.txt", { followSymlinks: false })).toMatchObject({ code: -32603 });
    expect(await files.call("getMetadata", { path: "file:///", followSymlinks: false })).toMatchObject({
      isDirectory: true,
    });
  });

  it("reports more with extended", async () => {
    const { birthtimeMs, mode } = statSync(files.path("f.txt"));
    const more = { createdAtMs: Math.floor(birthtimeMs), mode: mode & 0o7777, isSymlink: true };
    expect(await get("link", { extended: true })).toMatchObject(more);
  });
});

describe("canonicalize", () => {
  it("resolves links and encodes", async () => {
    mkdirSync(files.path("a b"));
    symlinkSync("../a b", files.path("sub/up"));
    symlinkSync("loop", files.path("loop"));
    const get = (name: string) => files.call("canonicalize", { path: files.url(name) });
    expect(await get("sub/up")).toEqual({ path: files.url("a b") });
    expect(files.url("a b")).toMatch(/\/a%20b$/);
    expect(await get("dangling")).toEqual(MISSING);
    expect(await get("loop")).toMatchObject({ code: -32603, message: expect.stringContaining("Symbolic link loop") });
  });
});

describe("readDirectory", () => {
  const sorted = (answer: unknown) =>
    (answer as { entries: { fileName: string }[] }).entries.sort((one, other) =>
      one.fileName < other.fileName ? -1 : 1,
    );

  it("resolves links and leaves out dangling ones", async () => {
    expect(sorted(await files.call("readDirectory", { path: files.url("") }))).toEqual([
      { fileName: "empty", isDirectory: true, isFile: false },
      { fileName: "f.txt", isDirectory: false, isFile: true },
      { fileName: "link", isDirectory: false, isFile: true },
      { fileName: "sub", isDirectory: true, isFile: false },
    ]);
  });

  it("reports links with extended", async () => {
    const entries = sorted(await files.call("readDirectory", { path: files.url(""), extended: true }));
    expect(entries).toContainEqual({ fileName: "dangling", isDirectory: false, isFile: false, isSymlink: true });
    expect(entries).toContainEqual({ fileName: "link", isDirectory: false, isFile: true, isSymlink: true });
    expect(entries).toContainEqual({ fileName: "f.txt", isDirectory: false, isFile: true, isSymlink: false });
  });

  it("lists all entries up to the limit", async () => {
    for (let index = 0; index < 700; index += 1) linkOrWrite(index);
    const answer = await files.call("readDirectory", { path: files.url("empty") });
    expect(sorted(answer)).toHaveLength(700);
    const connection = files.connect({ maxDirectoryEntries: 699 });
    const refusal = { code: -32600, message: "directory has more entries than the limit of 699" };
    expect(await callFiles(connection, "readDirectory", { path: files.url("empty") })).toEqual(refusal);
  });

  it("reports a path that is no directory or does not exist", async () => {
    expect(await files.call("readDirectory", { path: files.url("f.txt") })).toMatchObject({ code: -32603 });
    expect(await files.call("readDirectory", { path: files.url("missing") })).toEqual(MISSING);
    expect(await files.call("readDirectory", { path: files.url("empty") })).toEqual({ entries: [] });
  });

  function linkOrWrite(index: number): void {
    if (index === 0) writeFileSync(files.path("empty/0"), "");
    else linkSync(files.path("empty/0"), files.path(`empty/${index}`));
  }
});
