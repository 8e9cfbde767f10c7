import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { WebSocketServer } from "ws";

/** Servers on loopback that programs of the tests want, by name of what they serve. */
export interface World {
  /** Files that the programs need; readable by everybody. */
  readonly directory: string;
  /** Certificate of whoever has signed that of `https`. */
  readonly certificate: string;
  readonly ports: Readonly<Record<"http" | "https" | "postgres" | "redis", number>>;
  close(): void;
}

/** @param host the name that the certificate is for */
export async function startWorld(host: string): Promise<World> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "codex-world-")));
  const files = join(directory, "files");
  const { key, certificate } = createCertificate(directory, host);
  createRepository(directory, files);
  createPackages(directory, files);
  const credentials = { key: readFileSync(key), cert: readFileSync(certificate) };
  const answer = createAnswer(files);
  const secure = createHttpsServer(credentials, answer);
  const sockets = new WebSocketServer({ server: secure, path: "/socket" });
  sockets.on("connection", (socket) => socket.on("message", (text) => socket.send(`echo ${text}`)));
  const servers: Server[] = [createHttpServer(answer), secure, createServer(speakPostgres), createServer(speakRedis)];
  const open = new Set<Socket>();
  const ports = await Promise.all(
    servers.map(async (server) => {
      server.on("connection", (socket: Socket) => {
        open.add(socket.on("error", () => undefined));
        socket.once("close", () => open.delete(socket));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  const [http, https, postgres, redis] = ports as [number, number, number, number];
  return {
    directory,
    certificate,
    ports: { http, https, postgres, redis },
    close() {
      for (const socket of open) socket.destroy();
      for (const server of servers) server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function createCertificate(directory: string, host: string) {
  const [key, certificate] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const name = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  execFileSync("openssl", ["req", "-x509", ...curve, ...name, "-keyout", key, "-out", certificate], {
    stdio: "ignore",
  });
  return { key, certificate };
}

/** A repository as plain files, which is all that a clone needs. */
function createRepository(directory: string, files: string): void {
  const [source, bare] = [join(directory, "source"), join(files, "repo.git")];
  mkdirSync(files);
  const author = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
  const git = (...args: string[]) => execFileSync("git", args, { stdio: "ignore" });
  git("init", "-q", "-b", "main", source);
  writeFileSync(join(source, "hello"), "hello from git\n");
  git("-C", source, "add", ".");
  git("-C", source, ...author, "commit", "-qm", "first");
  git("clone", "-q", "--bare", source, bare);
  git("-C", bare, "update-server-info");
}

/** The package `tiny` for npm, pip and apt, and what others ask for first. */
function createPackages(directory: string, files: string): void {
  const own = join(directory, "package");
  mkdirSync(own);
  writeFileSync(join(own, "package.json"), JSON.stringify({ name: "tiny", version: "1.0.0" }));
  execFileSync("tar", ["-czf", join(files, "tiny-1.0.0.tgz"), "-C", directory, "package"]);
  const wheel = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z:
  z.writestr("tiny.py", "")
  z.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n")
  z.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
  z.writestr("tiny-1.0.dist-info/RECORD", "")`;
  execFileSync("python3", ["-c", wheel, join(files, "tiny-1.0-py3-none-any.whl")]);
  const add = (path: string, content: string | Buffer) => {
    mkdirSync(join(files, path, ".."), { recursive: true });
    writeFileSync(join(files, path), content);
  };
  const list = Buffer.from("Package: tiny\nVersion: 1\nArchitecture: all\nFilename: tiny.deb\nSize: 1\n");
  const lists = { Packages: list, "Packages.gz": gzipSync(list) };
  const lines = Object.entries(lists).map(([name, bytes]) => {
    add(`apt/${name}`, bytes);
    return ` ${createHash("sha256").update(bytes).digest("hex")} ${bytes.length} ${name}\n`;
  });
  add("apt/Release", `Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n${lines.join("")}`);
  add("go/example.com/tiny/@v/v1.0.0.mod", "module example.com/tiny\n");
  add("go/example.com/tiny/@v/list", "v1.0.0\n");
  add("go/example.com/tiny/@v/v1.0.0.info", JSON.stringify({ Version: "v1.0.0", Time: "2026-01-01T00:00:00Z" }));
}

/** Files, and documents that name the host they were asked for at. */
function createAnswer(files: string): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://x");
    const scheme = "encrypted" in request.socket ? "https" : "http";
    const base = `${scheme}://${request.headers.host}`;
    const documents: Record<string, () => unknown> = {
      "/hello": () => `hello from ${scheme}\n`,
      "/simple/tiny/": () => `<a href="/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>`,
      "/tiny": () => ({
        name: "tiny",
        "dist-tags": { latest: "1.0.0" },
        versions: { "1.0.0": { name: "tiny", version: "1.0.0", dist: { tarball: `${base}/tiny-1.0.0.tgz` } } },
      }),
      "/cargo/config.json": () => ({ dl: `${base}/cargo/dl`, api: base }),
      "/api/v1/crates": () => ({
        crates: [{ name: "tiny", max_version: "1.0.0", description: "a crate" }],
        meta: { total: 1 },
      }),
    };
    const document = documents[pathname]?.();
    if (document !== undefined) {
      if (typeof document === "string") response.setHeader("content-type", "text/html");
      return void response.end(typeof document === "string" ? document : JSON.stringify(document));
    }
    const file = join(files, pathname);
    if (existsSync(file) && statSync(file).isFile()) return void response.end(readFileSync(file));
    response.writeHead(404).end();
  };
}

/** Lets everybody in, and answers each query with one row. */
function speakPostgres(socket: Socket): void {
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const ready = message("Z", Buffer.from("I"));
  const column = Buffer.concat([
    Buffer.from([0, 1]),
    Buffer.from("c\0"),
    Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0]),
  ]);
  const value = Buffer.from("hello from postgres");
  const row = Buffer.concat([Buffer.from([0, 1, 0, 0, 0, value.length]), value]);
  let isOpen = false;
  socket.on("data", (bytes) => {
    if (!isOpen) {
      isOpen = true;
      const name = message("S", Buffer.from("client_encoding\0UTF8\0"));
      socket.write(Buffer.concat([message("R", Buffer.alloc(4)), name, ready]));
    } else if (bytes[0] === "Q".charCodeAt(0)) {
      const done = message("C", Buffer.from("SELECT 1\0"));
      socket.write(Buffer.concat([message("T", column), message("D", row), done, ready]));
    } else socket.end();
  });
}

function speakRedis(socket: Socket): void {
  socket.on("data", (bytes) =>
    socket.write(/ping/i.test(bytes.toString("latin1")) ? "+hello from redis\r\n" : "+OK\r\n"),
  );
}
