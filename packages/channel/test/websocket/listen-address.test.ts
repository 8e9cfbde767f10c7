import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Channel } from "@codex/channel";
import { connectWebSocketChannel, createWebSocketListener, type ListenOptions } from "@codex/channel/websocket";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { drain, nextValue } from "../support.js";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "codex listen-"));
});
afterEach(() => rmSync(base, { recursive: true }));

function linkTo(target: string): string {
  symlinkSync(target, join(base, "link"));
  return join(base, "link");
}

async function listen(options: Partial<ListenOptions>) {
  const accepted: Channel[] = [];
  const listener = await createWebSocketListener({ onChannel: (channel) => void accepted.push(channel), ...options });
  onTestFinished(() => listener.close({ deadlineMs: 200 }));
  return { listener, accepted };
}

/** Sends a value and receives its echo. */
async function exchange(url: string, accepted: Channel[], options: Parameters<typeof connectWebSocketChannel>[1] = {}) {
  const client = await connectWebSocketChannel(url, options);
  onTestFinished(() => client.close());
  await client.send({ hello: "ö" });
  expect(await nextValue(accepted.at(-1)!)).toEqual({ hello: "ö" });
  await accepted.at(-1)!.send({ bye: 1 });
  expect(await nextValue(client)).toEqual({ bye: 1 });
  await client.close();
  await drain(accepted.at(-1)!);
}

describe("a unix socket", () => {
  it.each([
    ["a directory", () => base, /cannot listen on .*: it exists and is not a socket$/],
    ["a link to nothing", () => linkTo(join(base, "none")), /cannot listen on .*: it exists and is not a socket$/],
    ["a link to itself", () => linkTo(join(base, "link")), /cannot listen on .*: ELOOP/],
    ["a path below a file", () => join("/etc/passwd", "x"), /cannot listen on \/etc\/passwd\/x: .*ENOTDIR/],
  ])("at %s is an error that names it", async (_what, path, message) => {
    const opened = createWebSocketListener({ socketPath: path(), onChannel: () => {} });
    await expect(opened).rejects.toMatchObject({ code: "listen_failed", message: expect.stringMatching(message) });
  });

  it("carries channels, has mode 600, and is removed after", async () => {
    const socketPath = join(base, "a socket ö#?%41");
    const { listener, accepted } = await listen({ socketPath });
    expect(listener.url).toBe(`unix://${socketPath}`);
    expect(listener.port).toBe(0);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    await exchange(listener.url, accepted);
    await listener.close();
    expect(existsSync(socketPath)).toBe(false);
  });

  it("replaces a socket without a listener, and nothing else", async () => {
    const socketPath = join(base, "s");
    const script = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
    expect(() => execFileSync(process.execPath, ["-e", script, socketPath], { stdio: "ignore" })).toThrow();
    expect(statSync(socketPath).isSocket()).toBe(true);
    const { accepted, listener } = await listen({ socketPath });
    await exchange(listener.url, accepted);
    await expect(listen({ socketPath })).rejects.toMatchObject({ code: "listen_failed", message: /is in use/ });
    await exchange(listener.url, accepted);
    const file = join(base, "file");
    writeFileSync(file, "kept");
    await expect(listen({ socketPath: file })).rejects.toMatchObject({ code: "listen_failed" });
    expect(readFileSync(file, "utf8")).toBe("kept");
  });

  it.each([
    ["relative/s", /has to be absolute/],
    [`/tmp/${"x".repeat(120)}`, /the path has 125 bytes, and that of a unix socket at most 103/],
  ])("is not created at %s", async (socketPath, message) => {
    await expect(listen({ socketPath })).rejects.toMatchObject({ code: "listen_failed", message });
  });

  it("that does not exist is named in the error", async () => {
    const url = `unix://${join(base, "none")}`;
    await expect(connectWebSocketChannel(url)).rejects.toMatchObject({
      code: "connect_failed",
      message: expect.stringContaining(`connecting to ${url} failed`),
    });
  });
});

const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasOpenssl)(`TLS${hasOpenssl ? "" : " (openssl, which makes the certificates, is missing)"}`, () => {
  /** A self-signed certificate for 127.0.0.1. */
  function makeIdentity(name = "own") {
    const [key, cert] = [join(base, `${name}.key`), join(base, `${name}.pem`)];
    const subject = ["-subj", "/CN=codex test", "-addext", "subjectAltName=IP:127.0.0.1"];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    execFileSync(
      "openssl",
      ["req", "-x509", ...curve, "-nodes", "-keyout", key, "-out", cert, "-days", "2", ...subject],
      { stdio: "ignore" },
    );
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  }

  it("carries channels to a client that trusts the certificate", async () => {
    const tls = makeIdentity();
    const { listener, accepted } = await listen({ tls });
    expect(listener.url).toBe(`wss://127.0.0.1:${listener.port}`);
    await exchange(listener.url, accepted, { ca: tls.cert });
  });

  it("is rejected by a client that does not, and is required", async () => {
    const { listener, accepted } = await listen({ tls: makeIdentity() });
    const other = makeIdentity("other");
    for (const options of [{}, { ca: other.cert }]) {
      await expect(connectWebSocketChannel(listener.url, options)).rejects.toMatchObject({
        code: "connect_failed",
        message: /self-signed certificate/,
      });
    }
    await expect(connectWebSocketChannel(listener.url.replace("wss", "ws"))).rejects.toMatchObject({
      code: "connect_failed",
    });
    expect(accepted).toEqual([]);
  });

  it("an invalid certificate, or one of another key, is refused", async () => {
    const [own, other] = [makeIdentity(), makeIdentity("other")];
    for (const tls of [
      { cert: "none", key: own.key },
      { cert: own.cert, key: other.key },
    ]) {
      const message = /the TLS certificate and key cannot be used: /;
      await expect(listen({ tls })).rejects.toMatchObject({ code: "listen_failed", message });
    }
  });

  it("a source that throws, or has what cannot be used, leaves the former certificate, until it has a good one", async () => {
    const [own, other] = [makeIdentity(), makeIdentity("other")];
    let source = () => own;
    const { listener, accepted } = await listen({ tls: () => source() });
    await exchange(listener.url, accepted, { ca: own.cert });
    source = () => {
      throw new Error("gone");
    };
    await exchange(listener.url, accepted, { ca: own.cert });
    source = () => ({ cert: own.cert, key: other.key });
    await exchange(listener.url, accepted, { ca: own.cert });
    source = () => other;
    await exchange(listener.url, accepted, { ca: other.cert });
  });

  it("a port of another protocol is an error", async () => {
    const server = createServer((socket) => socket.end("SSH-2.0-x\r\n")).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    await expect(connectWebSocketChannel(`wss://127.0.0.1:${port}`)).rejects.toMatchObject({ code: "connect_failed" });
  });
});
