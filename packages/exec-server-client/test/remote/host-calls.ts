import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFileUrl } from "@codex/exec-server-protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { MAX_WHOLE_FILE_BYTES } from "../../src/limits.js";
import { resolveRemotePath, toHostInfo, withDirectory } from "../../src/remote/remote-host.js";

/** File, HTTP and environment calls, over whatever server there is. */
export function describeHostCalls(name: string, listen: () => Promise<{ url: string; close(): Promise<void> }>): void {
  describe(name, () => {
    let server: { url: string; close(): Promise<void> };
    let client: ExecServerClient;
    let folder: string;
    const web = createServer((request, response) => {
      const body: Buffer[] = [];
      request.on("data", (bytes: Buffer) => body.push(bytes));
      request.on("end", () => {
        response.setHeader("x-method", request.method ?? "");
        if (request.url === "/moved") response.writeHead(302, { location: "/" });
        response.end(
          request.url === "/long" ? Buffer.alloc(2_000_000, "z") : Buffer.concat([...body, Buffer.from("!")]),
        );
      });
    });
    let site: string;

    beforeAll(async () => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), "host calls-ü ")));
      await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
      // Listening on TCP, so it is no path.
      site = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
      server = await listen();
      client = await ExecServerClient.connectWebSocket(server.url);
    });
    afterAll(async () => {
      await client.close();
      await server.close();
      await new Promise((resolve) => web.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    });

    it("writes, reads, copies and removes files", async () => {
      const { fileSystem } = client;
      const path = join(folder, "some file.bin");
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
      await fileSystem.writeFile(path, bytes);
      expect((await fileSystem.readFile(path)).equals(bytes)).toBe(true);
      expect(await fileSystem.getMetadata(path)).toMatchObject({ isFile: true, isDirectory: false, size: 70_000 });
      expect((await fileSystem.readFile(path, { size: 70_000 })).equals(bytes)).toBe(true);
      await fileSystem.writeFile(path, bytes, { mode: 0o600 });
      await fileSystem.createDirectory(join(folder, "a/b"));
      await fileSystem.copy(path, join(folder, "a/b/copy"), { recursive: false });
      expect(await fileSystem.readDirectory(join(folder, "a/b"))).toEqual([
        { fileName: "copy", isDirectory: false, isFile: true },
      ]);
      expect(await fileSystem.canonicalize(join(folder, "a/../a/b"))).toBe(toFileUrl(join(folder, "a/b")));
      await fileSystem.remove(join(folder, "a"));
      await expect(fileSystem.getMetadata(join(folder, "a"))).rejects.toMatchObject({ name: "RpcError", code: -32004 });
    });

    it("resolves the links of a path whose end does not exist, and refuses a dangling link", async () => {
      mkdirSync(join(folder, "real"));
      symlinkSync(join(folder, "real"), join(folder, "link"));
      symlinkSync(join(folder, "nothing"), join(folder, "dangling"));
      const { fileSystem } = client;
      expect(await resolveRemotePath(fileSystem, join(folder, "link/a/b"))).toBe(join(folder, "real/a/b"));
      await expect(resolveRemotePath(fileSystem, join(folder, "dangling/a"))).rejects.toThrow(
        `\`${join(folder, "dangling")}\` is a link that leads to nothing`,
      );
    });

    it("describes its host with native paths", async () => {
      const host = toHostInfo(await client.environment.info());
      const { os, arch, user, cwd, home, shell } = host;
      expect({ os, arch, user }).toEqual({ os: process.platform, arch: "", user: "" });
      expect([cwd, home, shell.path].filter((path) => !path.startsWith("/"))).toEqual([]);
      const directories = ["/srv", "~", "~/a", "a", "~b"].map((directory) => withDirectory(host, directory).cwd);
      expect(directories).toEqual(["/srv", home, join(home, "a"), join(home, "a"), join(home, "~b")]);
    });

    it("walks", async () => {
      mkdirSync(join(folder, "tree/.hidden"), { recursive: true });
      writeFileSync(join(folder, "tree/leaf"), "");
      const walked = await client.fileSystem.walk(join(folder, "tree"), {
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
      const { fileSystem } = client;
      const path = join(folder, "blocks");
      await fileSystem.open("w", path, { mode: "replace" });
      await fileSystem.writeBlock("w", 0, Buffer.from("hello "));
      await fileSystem.writeBlock("w", 6, Buffer.from("world"));
      await fileSystem.close("w");
      await fileSystem.open("r", path);
      const block = await fileSystem.readBlock("r", 6, 100);
      expect([block.bytes.toString(), block.eof]).toEqual(["world", true]);
      await fileSystem.close("r");
    });

    it("writes and reads files that are too large for one message", async () => {
      const path = join(folder, "large");
      const bytes = Buffer.alloc(MAX_WHOLE_FILE_BYTES + 5, "0123456789");
      await client.fileSystem.writeFile(path, bytes);
      expect(statSync(path).size).toBe(bytes.length);
      expect((await client.fileSystem.readFile(path)).equals(bytes)).toBe(true);
    });

    it("watches for what is missing", async () => {
      const path = join(folder, "awaited");
      const first = await client.fileSystem.watchMissing([join(folder, "never")]);
      const watch = await client.fileSystem.watchMissing([path]);
      expect(watch.watching).toBe(true);
      expect(await first.changed).toBe("replaced");
      writeFileSync(path, "");
      expect(await watch.changed).toBe("changed");
      expect(await client.fileSystem.watchMissing([path])).toEqual({ watching: false, changed: undefined });
    });

    it("requests over HTTP", async () => {
      const response = await client.http.request({ method: "POST", url: site, body: Buffer.from("bytes") });
      expect([response.status, response.body.toString()]).toEqual([200, "bytes!"]);
      expect(response.headers).toContainEqual({ name: "x-method", value: "POST" });
      expect((await client.http.request({ url: `${site}/moved`, redirectPolicy: "stop" })).status).toBe(302);
      await expect(client.http.request({ url: "ftp://x" })).rejects.toMatchObject({ name: "RpcError", code: -32602 });
    });

    it("streams bodies, several at once, and drops bodies that are no longer read", async () => {
      const [whole, part] = await Promise.all([
        client.http.stream({ url: `${site}/long` }),
        client.http.stream({ url: `${site}/long` }),
      ]);
      let bytes = 0;
      for await (const piece of whole.body) bytes += piece.length;
      expect(bytes).toBe(2_000_000);
      for await (const piece of part.body) {
        expect(piece.length).toBeGreaterThan(0);
        break;
      }
      expect(await client.environment.status()).toBe("ready");
    });

    it("tells of its host", async () => {
      const info = await client.environment.info();
      expect(info.shell.path).toMatch(/^\//);
      expect(info).toEqual(client.environmentInfo);
    });
  });
}
