import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFileUrl } from "@codex/exec-server-protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_WHOLE_FILE_BYTES } from "../../src/limits.js";
import type { RemoteFileSystem } from "../../src/remote/remote-file-system.js";
import { resolveRemotePath } from "../../src/remote/remote-host.js";

/** Files of a host that shares its file system with the test. */
export interface FilesUnderTest {
  files: Pick<RemoteFileSystem, keyof RemoteFileSystem>;
  close(): Promise<void>;
}

/** What holds for the files of every exec-server, however it is reached. */
export function describeFiles(name: string, open: () => Promise<FilesUnderTest>): void {
  describe(name, () => {
    let opened: FilesUnderTest;
    let folder: string;

    beforeAll(async () => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), "files-ü ")));
      opened = await open();
    });
    afterAll(async () => {
      await opened?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it("writes, reads, copies and removes files", async () => {
      const { files } = opened;
      const path = join(folder, "some file.bin");
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
      await files.writeFile(path, bytes);
      expect((await files.readFile(path)).equals(bytes)).toBe(true);
      expect(await files.getMetadata(path)).toMatchObject({ isFile: true, isDirectory: false, size: 70_000 });
      expect((await files.readFile(path, { size: 70_000 })).equals(bytes)).toBe(true);
      await files.writeFile(path, bytes, { mode: 0o600 });
      await files.createDirectory(join(folder, "a/b"));
      await files.copy(path, join(folder, "a/b/copy"), { recursive: false });
      expect(await files.readDirectory(join(folder, "a/b"))).toEqual([
        { fileName: "copy", isDirectory: false, isFile: true },
      ]);
      expect(await files.canonicalize(join(folder, "a/../a/b"))).toBe(toFileUrl(join(folder, "a/b")));
      await files.remove(join(folder, "a"));
      await expect(files.getMetadata(join(folder, "a"))).rejects.toMatchObject({ name: "RpcError", code: -32004 });
    });

    it("resolves the links of a path whose end does not exist, and refuses a dangling link", async () => {
      mkdirSync(join(folder, "real"));
      symlinkSync(join(folder, "real"), join(folder, "link"));
      symlinkSync(join(folder, "nothing"), join(folder, "dangling"));
      const { files } = opened;
      expect(await resolveRemotePath(files, join(folder, "link/a/b"))).toBe(join(folder, "real/a/b"));
      await expect(resolveRemotePath(files, join(folder, "dangling/a"))).rejects.toThrow(
        `\`${join(folder, "dangling")}\` is a link that leads to nothing`,
      );
    });

    it("walks", async () => {
      mkdirSync(join(folder, "tree/.hidden"), { recursive: true });
      writeFileSync(join(folder, "tree/leaf"), "");
      const walked = await opened.files.walk(join(folder, "tree"), {
        maxDepth: 3,
        maxDirectories: 10,
        maxEntries: 10,
        followDirectorySymlinks: false,
        pruneHiddenDirectories: true,
      });
      expect(walked).toEqual({
        entries: [
          { path: toFileUrl(join(folder, "tree/.hidden")), kind: "directory" },
          { path: toFileUrl(join(folder, "tree/leaf")), kind: "file" },
        ],
        errors: [],
        truncated: false,
      });
    });

    it("reads and writes blocks", async () => {
      const { files } = opened;
      const path = join(folder, "blocks");
      await files.open("w", path, { mode: "replace" });
      await files.writeBlock("w", 0, Buffer.from("hello "));
      await files.writeBlock("w", 6, Buffer.from("world"));
      await files.close("w");
      await files.open("r", path);
      const block = await files.readBlock("r", 6, 100);
      expect([block.bytes.toString(), block.eof]).toEqual(["world", true]);
      await files.close("r");
    });

    it("writes and reads files that are too large for one message", async () => {
      const path = join(folder, "large");
      const bytes = Buffer.alloc(MAX_WHOLE_FILE_BYTES + 5, "0123456789");
      await opened.files.writeFile(path, bytes);
      expect(statSync(path).size).toBe(bytes.length);
      expect((await opened.files.readFile(path)).equals(bytes)).toBe(true);
    });

    it("watches for what is missing", async () => {
      const path = join(folder, "awaited");
      const first = await opened.files.watchMissing([join(folder, "never")]);
      const watch = await opened.files.watchMissing([path]);
      expect(watch.watching).toBe(true);
      expect(await first.changed).toBe("replaced");
      writeFileSync(path, "");
      expect(await watch.changed).toBe("changed");
      expect(await opened.files.watchMissing([path])).toEqual({ watching: false, changed: undefined });
    });
  });
}
