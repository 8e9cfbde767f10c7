import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { echo, textOf, useHttp } from "./support.js";

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"]);
    return true;
  } catch {
    return false;
  }
}

// Node makes no certificates.
describe.runIf(hasOpenssl())("https", () => {
  const clients = useHttp();
  const directory = mkdtempSync(join(tmpdir(), "exec-server-tls-"));
  const [keyFile, certFile] = [join(directory, "key"), join(directory, "cert")];
  let server: Server;
  let url = "";

  beforeAll(async () => {
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const name = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync("openssl", ["req", "-x509", ...curve, ...name, "-keyout", keyFile, "-out", certFile], {
      stdio: "ignore",
    });
    server = createServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, echo).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  });

  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true });
  });

  it("takes certificates that are trusted", async () => {
    const ca = readFileSync(certFile, "utf8");
    const answer = await clients.connect({ ca }).call({ url, method: "POST", bodyBase64: "aGVsbG8=" });
    expect(JSON.parse(textOf(answer))).toMatchObject({ method: "POST", url: "/x", body: "hello" });
  });

  it("refuses others, and names the reason", async () => {
    const answer = await clients.connect().call({ url });
    expect(answer).toMatchObject({ code: -32603, message: expect.stringContaining("DEPTH_ZERO_SELF_SIGNED_CERT") });
  });
});
