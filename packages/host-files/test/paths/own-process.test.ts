import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { toFileUrl } from "@codex/exec-server-protocol";
import { createEntryReader } from "@codex/native";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFileSystem } from "../../src/file-system.js";
import { base64, callFiles, useFiles } from "../support.js";

const isLinux = process.platform === "linux";
const DENIED = { code: -32600, message: expect.stringContaining("Permission denied (os error 13)") };

describe.skipIf(!isLinux)(`what /proc shows of this process${isLinux ? "" : ": skipped, for Linux"}`, () => {
  const files = useFiles();
  const read = (path: string, more: object = {}) => files.call("readFile", { path: toFileUrl(path), ...more });
  /** Names of this test that lead into it. */
  const leading = (name: string): readonly string[] => {
    mkdirSync(files.path("links"));
    symlinkSync(`/proc/self/${name}`, files.path("links/to-file"));
    symlinkSync("to-file", files.path("links/to-link"));
    symlinkSync("/proc/self", files.path("links/to-directory"));
    return [
      `/proc/self/${name}`,
      `/proc/${process.pid}/${name}`,
      `/proc/thread-self/${name}`,
      `/proc/self/task/${process.pid}/${name}`,
      `/proc/self/root/proc/self/${name}`,
      files.path("links/to-file"),
      files.path("links/to-link"),
      files.path(`links/to-directory/${name}`),
    ];
  };

  it.each(["environ", "mem", "maps", "smaps", "auxv", "pagemap", "io", "fdinfo/0"])(
    "%s is read by no call and no name",
    async (name) => {
      for (const path of leading(name)) {
        expect(await read(path), path).toMatchObject(DENIED);
        expect(await files.call("open", { handleId: "h", path: toFileUrl(path), mode: "read" }), path).toMatchObject(
          DENIED,
        );
        const copied = { sourcePath: toFileUrl(path), destinationPath: files.url("copy"), recursive: false };
        if (!path.startsWith(files.root)) expect(await files.call("copy", copied), path).toMatchObject(DENIED);
        expect(() => readFileSync(files.path("copy"))).toThrow("ENOENT");
      }
      expect(await read(`/proc/${process.pid}/${name}`, { followSymlinks: false })).toMatchObject(DENIED);
    },
  );

  it("no call writes its memory", async () => {
    const path = "file:///proc/self/mem";
    expect(await files.call("writeFile", { path, dataBase64: base64("x") })).toMatchObject(DENIED);
    expect(await files.call("open", { handleId: "w", path, mode: "replace" })).toHaveProperty("code");
  });

  it.each(["fd", "fdinfo", "map_files", "ns"])("its directory %s is not listed", async (name) => {
    for (const path of leading(name).filter((leader) => existsSync(leader))) {
      expect(await files.call("readDirectory", { path: toFileUrl(path) }), path).toMatchObject(DENIED);
      const options = { maxDepth: 1, maxDirectories: 10, maxEntries: 10, followDirectorySymlinks: true };
      const walked = await files.call("walk", {
        path: toFileUrl(path),
        options: { ...options, pruneHiddenDirectories: false },
      });
      expect(walked, path).toMatchObject({ entries: [], errors: [{ message: "Permission denied (os error 13)" }] });
    }
  });

  it("the native reader does not list its directories either", async () => {
    const entries = createEntryReader();
    await expect.poll(() => entries.isReady()).toBe(true);
    const connection = createFileSystem({ entries }).createConnectionFileSystem({ onMissingChanged: () => {} });
    expect(await callFiles(connection, "readDirectory", { path: "file:///proc/self/fd" })).toMatchObject(DENIED);
    await connection.dispose();
  });

  describe("a file without a name", () => {
    let fd = -1;
    beforeEach(() => {
      fd = openSync(files.path("unnamed"), "wx+");
      unlinkSync(files.path("unnamed"));
    });
    afterEach(() => closeSync(fd));
    const paths = () => [`/proc/self/fd/${fd}`, `/dev/fd/${fd}`, `/proc/${process.pid}/task/${process.pid}/fd/${fd}`];

    it("is neither read nor found through its descriptor", async () => {
      for (const path of paths()) {
        expect(await read(path)).toMatchObject(DENIED);
        expect(await files.call("canonicalize", { path: toFileUrl(path) })).toMatchObject({ code: expect.any(Number) });
      }
      expect(await files.call("canonicalize", { path: "file:///proc/self/fd/0" })).toMatchObject(DENIED);
    });

    it("is not written through its descriptor", async () => {
      for (const path of paths()) {
        const url = toFileUrl(path);
        expect(await files.call("writeFile", { path: url, dataBase64: base64("x") })).toMatchObject(DENIED);
        const copied = { sourcePath: files.url("f.txt"), destinationPath: url, recursive: false };
        expect(await files.call("copy", copied)).toMatchObject(DENIED);
      }
      expect(readSync(fd, Buffer.alloc(1), 0, 1, 0)).toBe(0);
    });
  });

  it("files that everybody may read are readable", async () => {
    for (const path of leading("status").filter((path) => !path.includes("thread-self"))) {
      const answer = (await read(path)) as { dataBase64: string };
      expect(Buffer.from(answer.dataBase64, "base64").toString(), path).toContain(`Pid:\t${process.pid}\n`);
    }
    for (const path of ["/proc/meminfo", "/proc/self/cmdline", "/proc/self/mountinfo", "/proc/1/stat"]) {
      expect(await read(path), path).toEqual({ dataBase64: expect.stringMatching(/./) });
    }
    expect(await files.call("readDirectory", { path: "file:///proc/self" })).toHaveProperty("entries");
  });

  describe("of another process", () => {
    let other: ChildProcess;
    beforeEach(() => {
      other = spawn("sleep", ["300"], { env: { SEEN: "yes", PATH: process.env.PATH } });
    });
    afterEach(() => void other.kill("SIGKILL"));

    it("is as accessible as the system allows", async () => {
      const answer = (await read(`/proc/${other.pid}/environ`)) as { dataBase64: string };
      expect(Buffer.from(answer.dataBase64, "base64").toString()).toContain("SEEN=yes");
    });
  });

  it("a file of the same name elsewhere is readable", async () => {
    const directory = files.path(`${process.pid}`);
    mkdirSync(directory);
    closeSync(openSync(join(directory, "environ"), "wx", 0o600));
    expect(await read(join(directory, "environ"))).toEqual({ dataBase64: "" });
    rmSync(directory, { recursive: true });
  });
});
