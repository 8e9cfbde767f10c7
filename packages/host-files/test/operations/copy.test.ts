import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { expect, it } from "vitest";
import { useFiles } from "../support.js";

const files = useFiles();
const copy = (from: string, to: string, recursive = false) =>
  files.call("copy", { sourcePath: files.url(from), destinationPath: files.url(to), recursive });
const read = (name: string) => readFileSync(files.path(name), "utf8");
const EXISTS = { code: -32603, message: expect.stringContaining("File exists (os error 17)") };
const ITSELF = { code: -32600, message: "fs/copy cannot copy a directory to itself or one of its descendants" };

it("copies a file with its permissions, over another one too", async () => {
  chmodSync(files.path("f.txt"), 0o741);
  expect(await copy("f.txt", "copy")).toEqual({});
  expect(await copy("f.txt", "sub/g.txt")).toEqual({});
  for (const name of ["copy", "sub/g.txt"]) {
    expect(read(name)).toBe("hello");
    expect(statSync(files.path(name)).mode & 0o777).toBe(0o741);
  }
});

it("keeps a file that is copied onto itself, under whatever name", async () => {
  linkSync(files.path("f.txt"), files.path("hard"));
  for (const name of ["f.txt", "link", "hard"]) {
    expect(await copy("f.txt", name)).toEqual({});
    expect(read("f.txt")).toBe("hello");
  }
});

it("copies links as links", async () => {
  symlinkSync("sub", files.path("dlink"));
  for (const name of ["link", "dangling", "dlink"]) {
    expect(await copy(name, `${name}-copy`)).toEqual({});
    expect(readlinkSync(files.path(`${name}-copy`))).toBe(readlinkSync(files.path(name)));
  }
  expect(await copy("link", "f.txt")).toEqual(EXISTS);
  expect(read("f.txt")).toBe("hello");
});

it("copies a tree, also into an existing directory", async () => {
  symlinkSync("../f.txt", files.path("sub/deep/up"));
  mkdirSync(files.path("sub/private"), { mode: 0o700 });
  execFileSync("mkfifo", [files.path("sub/fifo")]);
  expect(await copy("sub", "new/place", true)).toEqual({});
  expect(readdirSync(files.path("new/place")).sort()).toEqual(["deep", "g.txt", "private"]);
  expect(read("new/place/deep/h.txt")).toBe("h");
  expect(readlinkSync(files.path("new/place/deep/up"))).toBe("../f.txt");
  expect(statSync(files.path("new/place/private")).mode & 0o777).toBe(0o700);
  writeFileSync(files.path("empty/kept"), "kept");
  expect(await copy("sub", "empty", true)).toEqual({});
  expect(read("empty/g.txt")).toBe("g");
  expect(read("empty/kept")).toBe("kept");
});

it("never copies a directory into itself", async () => {
  symlinkSync("sub", files.path("dlink"));
  for (const to of ["sub", "sub/inner", "sub/deep/a/b", "dlink/inner", "dlink"])
    expect(await copy("sub", to, true)).toEqual(ITSELF);
  expect(readdirSync(files.path("sub")).sort()).toEqual(["deep", "g.txt"]);
  expect(await copy("sub", "sub2", true)).toEqual({});
});

it("reports what cannot be copied", async () => {
  execFileSync("mkfifo", [files.path("fifo")]);
  const recursive = { code: -32600, message: "fs/copy requires recursive: true when sourcePath is a directory" };
  expect(await copy("sub", "copy")).toEqual(recursive);
  const kinds = { code: -32600, message: "fs/copy only supports regular files, directories, and symlinks" };
  expect(await copy("fifo", "copy")).toEqual(kinds);
  expect(await copy("f.txt", "fifo")).toMatchObject({
    code: -32600,
    message: expect.stringContaining("is not a file"),
  });
  expect(await copy("f.txt", "empty")).toMatchObject({
    code: -32603,
    message: expect.stringContaining("Is a directory"),
  });
  expect(await copy("sub", "f.txt", true)).toEqual(EXISTS);
  expect(await copy("missing", "copy")).toMatchObject({ code: -32004 });
  expect(await copy("f.txt", "nodir/copy")).toMatchObject({ code: -32004 });
  expect(await files.call("copy", { sourcePath: files.url("f.txt"), destinationPath: files.url("x") })).toEqual({
    code: -32602,
    message: "missing field `recursive`",
  });
});
