import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { lstat, readdir, readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { holdDirectory, withoutLinks } from "../../src/paths/no-follow.js";
import { base64, useFiles } from "../support.js";

const files = useFiles();

/** Puts a link to `empty` in the place of `sub`. */
function swap(): void {
  renameSync(files.path("sub"), files.path("moved"));
  symlinkSync("empty", files.path("sub"));
}

describe.runIf(process.platform === "linux")("a directory that is concurrently replaced by a link", () => {
  it("does not change which directory is used", async () => {
    const directory = await holdDirectory(files.path("sub"));
    swap();
    expect((await readdir(directory.path)).sort()).toEqual(["deep", "g.txt"]);
    await directory.close();
  });

  it("does not change where an entry is", async () => {
    await withoutLinks(files.path("sub/new"), async (entry) => {
      swap();
      await writeFile(entry, "here");
    });
    expect(readFileSync(files.path("moved/new"), "utf8")).toBe("here");
    expect(readdirSync(files.path("empty"))).toEqual([]);
  });
});

it("a link anywhere in the directory part is refused", async () => {
  mkdirSync(files.path("real/a/b"), { recursive: true });
  writeFileSync(files.path("real/a/b/c"), "c");
  symlinkSync("real", files.path("r"));
  symlinkSync("a", files.path("real/alink"));
  const read = (name: string) => withoutLinks(files.path(name), async (entry) => (await readFile(entry)).toString());
  expect(await read("real/a/b/c")).toBe("c");
  for (const name of ["r/a/b/c", "real/alink/b/c"]) await expect(read(name)).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(holdDirectory(files.path("r"))).rejects.toMatchObject({ code: "ENOTDIR" });
  expect(await withoutLinks("/", async (entry) => (await lstat(entry)).isDirectory())).toBe(true);
});

it.runIf(process.platform === "linux")("no call leaks a descriptor", async () => {
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const options = {
    maxDepth: 5,
    maxDirectories: 99,
    maxEntries: 2,
    followDirectorySymlinks: true,
    pruneHiddenDirectories: false,
  };
  const round = async () => {
    for (const name of ["f.txt", "sub", "link", "missing"]) {
      const path = files.url(name);
      for (const followSymlinks of [true, false]) {
        for (const method of ["readFile", "getMetadata", "canonicalize", "readDirectory", "walk", "createDirectory"]) {
          await files.call(method, { path, followSymlinks, options, recursive: false });
        }
        await files.call("writeFile", { path: files.url("sub/w"), dataBase64: base64("w"), followSymlinks });
        await files.call("remove", { path: files.url("sub/w"), recursive: false, followSymlinks });
      }
      await files.call("copy", { sourcePath: path, destinationPath: files.url("copy"), recursive: true });
      await files.call("remove", { path: files.url("copy") });
      await files.call("open", { handleId: "h", path, mode: "replace" });
      await files.call("writeBlock", { handleId: "h", offset: 2 ** 53 - 2, chunk: base64("x") });
      await files.call("close", { handleId: "h" });
    }
  };
  await round();
  const before = openFiles();
  for (let count = 0; count < 5; count += 1) await round();
  expect(openFiles()).toBe(before);
});
