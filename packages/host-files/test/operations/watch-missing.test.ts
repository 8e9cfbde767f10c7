import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { useFiles } from "../support.js";

const files = useFiles();
const watch = (watchId: number, missing: string[], present?: string) =>
  files.call("watchMissing", {
    watchId,
    missing: missing.map((name) => files.url(name)),
    present: present === undefined ? null : files.url(present),
  });
const WATCHING = { watching: true };
const NOT_WATCHING = { watching: false };

it("notifies once when a missing path appears", async () => {
  expect(await watch(1, ["later", "sub/never"])).toEqual(WATCHING);
  const change = files.nextChange();
  writeFileSync(files.path("later"), "");
  expect(await change).toBe(1);
  expect(await watch(2, ["sub/again"])).toEqual(WATCHING);
  const next = files.nextChange();
  writeFileSync(files.path("sub/never"), "");
  writeFileSync(files.path("sub/again"), "");
  expect(await next).toBe(2);
  expect(files.changes).toEqual([1, 2]);
});

it("notifies when a path existed only briefly", async () => {
  expect(await watch(1, ["flash"])).toEqual(WATCHING);
  const change = files.nextChange();
  writeFileSync(files.path("flash"), "");
  rmSync(files.path("flash"));
  expect(await change).toBe(1);
});

it("notifies when an ancestor appears or disappears", async () => {
  expect(await watch(1, ["a/b/c"], "f.txt")).toEqual(WATCHING);
  const appeared = files.nextChange();
  mkdirSync(files.path("a"));
  expect(await appeared).toBe(1);
  expect(await watch(2, ["a/b/c"])).toEqual(WATCHING);
  const gone = files.nextChange();
  renameSync(files.path("a"), files.path("z"));
  expect(await gone).toBe(2);
});

it.each(["sub/g.txt", "sub"])("notifies when the present path disappears: %s", async (name) => {
  expect(await watch(1, ["later"], "sub/g.txt")).toEqual(WATCHING);
  const change = files.nextChange();
  rmSync(files.path(name), { recursive: true });
  expect(await change).toBe(1);
});

it("follows links", async () => {
  symlinkSync("sub", files.path("dlink"));
  expect(await watch(1, ["dlink/later"])).toEqual(WATCHING);
  const change = files.nextChange();
  writeFileSync(files.path("sub/later"), "");
  expect(await change).toBe(1);
});

it("watches nothing if the paths are not in the given state", async () => {
  expect(await watch(1, [])).toEqual(NOT_WATCHING);
  expect(await watch(2, [], "f.txt")).toEqual(NOT_WATCHING);
  expect(await watch(3, ["f.txt"])).toEqual(NOT_WATCHING);
  expect(await watch(4, ["dangling"])).toEqual(NOT_WATCHING);
  expect(await watch(5, ["f.txt/x"])).toEqual(NOT_WATCHING);
  expect(await watch(6, ["later"], "nope")).toEqual(NOT_WATCHING);
});

it("takes 64 paths and not 65", async () => {
  const names = Array.from({ length: 65 }, (_, index) => `m${index}`);
  expect(await watch(1, names)).toEqual(NOT_WATCHING);
  expect(await watch(2, names.slice(1))).toEqual(WATCHING);
  const change = files.nextChange();
  writeFileSync(files.path("m64"), "");
  expect(await change).toBe(2);
});

it("ids must increase, and each new watch replaces the previous one", async () => {
  expect(await watch(5, ["one"])).toEqual(WATCHING);
  expect(await watch(5, ["two"])).toEqual(NOT_WATCHING);
  expect(await watch(4, ["two"])).toEqual(NOT_WATCHING);
  expect(await watch(6, ["f.txt"])).toEqual(NOT_WATCHING);
  writeFileSync(files.path("one"), "");
  expect(await watch(7, ["two"])).toEqual(WATCHING);
  const change = files.nextChange();
  writeFileSync(files.path("two"), "");
  expect(await change).toBe(7);
  expect(files.changes).toEqual([7]);
});

it("does not notify after the end of the connection", async () => {
  expect(await watch(1, ["later"])).toEqual(WATCHING);
  await files.connection.dispose();
  writeFileSync(files.path("later"), "");
  const other = files.connect();
  expect(await other.watchMissing({ watchId: 2, missing: [files.path("other")], present: undefined })).toEqual(
    WATCHING,
  );
  const change = files.nextChange();
  writeFileSync(files.path("other"), "");
  expect(await change).toBe(2);
  expect(files.changes).toEqual([2]);
});
