import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { MAX_LISTED_SUBDIRECTORIES } from "../../src/limits.js";
import { useFiles } from "../support.js";

const files = useFiles();
const remove = (name: string, more = {}) => files.call("remove", { path: files.url(name), ...more });
const NOT_EMPTY = { code: -32603, message: expect.stringContaining("Directory not empty (os error ") };

it("removes trees by default, and ignores a missing path", async () => {
  expect(await remove("nope")).toEqual({});
  expect(await remove("nope/nope")).toEqual({});
  expect(await remove("nope", { force: false })).toMatchObject({ code: -32004 });
  expect(await remove("sub", { recursive: false })).toEqual(NOT_EMPTY);
  expect(await remove("empty", { recursive: false })).toEqual({});
  expect(await remove("sub")).toEqual({});
  expect(existsSync(files.path("sub"))).toBe(false);
  expect(await remove("f.txt/x")).toMatchObject({ code: -32603 });
});

it("removes links and not their targets", async () => {
  symlinkSync("../sub", files.path("empty/dlink"));
  symlinkSync(files.path("f.txt"), files.path("empty/flink"));
  for (const name of ["link", "dangling", "empty"]) expect(await remove(name)).toEqual({});
  expect(readFileSync(files.path("f.txt"), "utf8")).toBe("hello");
  expect(readFileSync(files.path("sub/deep/h.txt"), "utf8")).toBe("h");
  expect(() => lstatSync(files.path("dangling"))).toThrow();
});

it("follows no link with followSymlinks: false", async () => {
  symlinkSync("sub", files.path("dlink"));
  const plain = { followSymlinks: false, recursive: false };
  const unsupported = { code: -32603, message: "recursive no-follow removal is unsupported" };
  expect(await remove("f.txt", { followSymlinks: false })).toEqual(unsupported);
  expect(await remove("link", plain)).toMatchObject({
    code: -32600,
    message: expect.stringContaining("symbolic link"),
  });
  expect(await remove("dlink/g.txt", plain)).toMatchObject({ code: -32603 });
  expect(await remove("sub", plain)).toEqual(NOT_EMPTY);
  expect(await remove("sub/g.txt", plain)).toEqual({});
  expect(await remove("empty", plain)).toEqual({});
  expect(await remove("sub/g.txt", plain)).toEqual({});
  expect(await remove("sub/g.txt", { ...plain, force: false })).toMatchObject({ code: -32004 });
});

it("removes wide and deep trees, and unusual names", async () => {
  let deep = files.path("tree");
  for (let level = 0; level < 60; level += 1) deep += `/level-${level}`;
  mkdirSync(deep, { recursive: true });
  mkdirSync(files.path("tree/wide"));
  for (let index = 0; index < 700; index += 1) writeFileSync(files.path(`tree/wide/${index}`), "");
  writeFileSync(files.path("tree/wide/\n \\ü"), "");
  expect(await remove("tree")).toEqual({});
  expect(existsSync(files.path("tree"))).toBe(false);
});

it.runIf(process.platform === "linux")("removes names that are not UTF-8", async () => {
  mkdirSync(files.path("odd"));
  writeFileSync(Buffer.concat([Buffer.from(files.path("odd/")), Buffer.from([0xff, 0xfe])]), "");
  expect(await remove("odd")).toEqual({});
  expect(existsSync(files.path("odd"))).toBe(false);
});

const program = (name: string) => fileURLToPath(new URL(`./programs/${name}`, import.meta.url));

it("removes a tree deeper than the limit of descriptors", () => {
  const tree = files.path("tree");
  mkdirSync(join(tree, "d/".repeat(900)), { recursive: true });
  for (let level = 0; level < 900; level += 90) {
    writeFileSync(join(tree, "d/".repeat(level), "file"), "");
    mkdirSync(join(tree, "d/".repeat(level), "other/empty"), { recursive: true });
  }
  const limited = ["-c", 'ulimit -n 256 && exec "$0" "$@"', process.execPath, program("remove-deep.mjs"), tree];
  const { stderr, status } = spawnSync("/bin/sh", limited, { encoding: "utf8" });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  expect(existsSync(tree)).toBe(false);
});

it("removes more subdirectories than are kept in memory", async () => {
  for (let index = 0; index < MAX_LISTED_SUBDIRECTORIES + 100; index += 1) {
    mkdirSync(files.path(`tree/${index}/below`), { recursive: true });
    writeFileSync(files.path(`tree/file-${index}`), "");
  }
  expect(await remove("tree")).toEqual({});
  expect(existsSync(files.path("tree"))).toBe(false);
});

it("lists no directory synchronously, which could block the event loop", () => {
  for (const count of [0, 1, 511, 512, 513, 1_100]) {
    const directory = files.path(`listed-${count}`);
    mkdirSync(directory);
    for (let index = 0; index < count; index += 1) writeFileSync(join(directory, `${index}`), "");
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ["--trace-sync-io", program("list-directory.mjs"), directory],
      {
        encoding: "utf8",
      },
    );
    const sizes = [...Array.from({ length: Math.floor(count / 512) }, () => 512), count % 512].filter(
      (size) => size > 0,
    );
    expect(JSON.parse(stdout)).toEqual(sizes);
    expect(stderr).not.toContain("readSync");
  }
});
