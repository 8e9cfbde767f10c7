// Certificates and tokens of listeners that change while they serve: who is connected stays, and new connections get the new ones.
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { useCommand } from "../support.js";
import { hasOpenssl, rotateCertificate, visit } from "./credentials.js";

const command = useCommand();
let base = "";
beforeEach(() => {
  base = mkdtempSync(join(realpathSync(tmpdir()), "codex-rotation-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
});
const path = (name: string) => join(base, name);

const rotateToken = (token: string) => writeFileSync(path("token"), token);

async function start(name: string, args: readonly string[]) {
  rotateCertificate(base);
  rotateToken("first");
  const tls = ["--tls-cert", path("cert"), "--tls-key", path("key")];
  const child = command.start([name, ...args, ...tls], { CODEX_HOME: base });
  let stderr = "";
  child.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, url, stderr: () => stderr };
}

const LISTENERS: readonly [string, string[]][] = [
  ["executor", ["--listen", "ws://127.0.0.1:0", "--token-file"]],
  ["exec-server", ["--listen", "ws://127.0.0.1:0", "--ws-auth", "capability-token", "--ws-token-file"]],
  ["mcp-server", ["--listen", "https://127.0.0.1:0", "--listen-token-file"]],
];

describe.skipIf(!hasOpenssl)("a listener", () => {
  it.each(LISTENERS)("%s takes a new certificate and a new token without a restart", async (name, args) => {
    const { url, child, stderr } = await start(name, [...args, path("token")]);
    const before = await visit(url, "first");
    expect(before.status).not.toBe(401);
    expect((await visit(url, "second")).status).toBe(401);
    rotateCertificate(base);
    rotateToken("second");
    await expect.poll(async () => (await visit(url, "second")).status, { timeout: 10_000 }).toBe(before.status);
    await expect
      .poll(async () => (await visit(url, "second")).certificate, { timeout: 10_000 })
      .not.toBe(before.certificate);
    expect((await visit(url, "first")).status).toBe(401);
    // What cannot be used is told at SIGHUP, which ends nothing, and changes nothing.
    const now = await visit(url, "second");
    writeFileSync(path("cert"), "nonsense");
    rotateToken("");
    await expect
      .poll(
        () => {
          child.kill("SIGHUP");
          return stderr();
        },
        { timeout: 10_000 },
      )
      .toMatch(/previous content is kept[\s\S]*previous content is kept/);
    expect(await visit(url, "second")).toEqual(now);
    expect(child.exitCode).toBeNull();
  });

  it("keeps the programs of clients that are connected", async () => {
    const { url } = await start("executor", ["--listen", "ws://127.0.0.1:0", "--token-file", path("token")]);
    writeFileSync(path("client"), "first");
    const trust = ["--token-file", path("client"), "--ca-file", path("cert")];
    const program = command.start(["run", "--executor", url, ...trust, "--", "cat"], { CODEX_HOME: base });
    const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
    const echo = async (text: string) => {
      program.stdin.write(`${text}\n`);
      return (await lines.next()).value as string;
    };
    expect(await echo("one")).toBe("one");
    const { certificate } = await visit(url, "first");
    for (let round = 0; round < 3; round += 1) {
      rotateCertificate(base);
      rotateToken(`token-${round}`);
      await expect.poll(async () => (await visit(url, `token-${round}`)).status, { timeout: 10_000 }).toBe(101);
      expect(await echo(`round ${round}`)).toBe(`round ${round}`);
    }
    expect((await visit(url, "token-2")).certificate).not.toBe(certificate);
    program.stdin.end();
    expect((await once(program, "close"))[0]).toBe(0);
  });

  it("rendezvous takes a new certificate as well", async () => {
    const { url, child } = await start("rendezvous", ["--listen", "https://127.0.0.1:0"]);
    const before = await visit(`${url}/healthz`, "x");
    rotateCertificate(base);
    const changed = async () => (await visit(`${url}/healthz`, "x")).certificate !== before.certificate;
    await expect.poll(changed, { timeout: 10_000 }).toBe(true);
    child.kill("SIGHUP");
    expect(await changed()).toBe(true);
    child.kill("SIGTERM");
    expect((await once(child, "close"))[0]).toBe(0);
  });
});
