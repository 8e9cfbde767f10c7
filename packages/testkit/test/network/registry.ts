import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";

/**
 * Until the end of the test, `http://registry.example/` has the package `tiny`: no name server knows that name, but the proxy of this process's
 * environment does.
 */
export async function startRegistry(): Promise<void> {
  const tarball = createTarball();
  const registry = createServer((request, response) => {
    if (request.url?.endsWith(".tgz") === true) return void response.end(tarball);
    const dist = { tarball: "http://registry.example/tiny-1.0.0.tgz" };
    const versions = { "1.0.0": { name: "tiny", version: "1.0.0", dist } };
    response.end(JSON.stringify({ name: "tiny", "dist-tags": { latest: "1.0.0" }, versions }));
  });
  const at = await listen(registry);
  const proxy = createServer().on("connect", (request, socket: Duplex) => {
    if (request.url !== "registry.example:80") return void socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    const to = connect(at, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(to).pipe(socket);
    });
    to.on("error", () => socket.destroy());
    socket.on("error", () => to.destroy());
  });
  const before = process.env.HTTP_PROXY;
  process.env.HTTP_PROXY = `http://127.0.0.1:${await listen(proxy)}`;
  onTestFinished(() => {
    if (before === undefined) delete process.env.HTTP_PROXY;
    else process.env.HTTP_PROXY = before;
  });
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function createTarball(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), "codex-registry-"));
  try {
    mkdirSync(join(directory, "package"));
    writeFileSync(join(directory, "package/package.json"), JSON.stringify({ name: "tiny", version: "1.0.0" }));
    execFileSync("tar", ["-czf", "tiny.tgz", "package"], { cwd: directory });
    return readFileSync(join(directory, "tiny.tgz"));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
