import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listExecutors, openNoiseChannel, serveExecutorRelay } from "@codex/relay";
import { expect, it, onTestFinished } from "vitest";
import { listenRendezvous } from "../src/listen.js";
import { Rendezvous } from "../src/rendezvous.js";

/** Node makes no certificates. */
function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function createCertificate(): { cert: string; key: string } {
  const directory = mkdtempSync(join(tmpdir(), "tls "));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", ...curve, ...name, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

it.skipIf(!hasOpenssl())(
  "both ends meet over TLS, and trust only the certificate they were given (needs openssl)",
  async () => {
    const tls = createCertificate();
    const listener = await listenRendezvous(new Rendezvous(), { tls });
    onTestFinished(() => listener.close());
    expect(listener.url).toMatch(/^https:/);
    const authorize = () => ({ authorization: "Bearer any" });
    const registry = { url: listener.url, environmentId: "env-1", authorize, ca: tls.cert };
    const executor = await serveExecutorRelay({
      registry,
      onStream: async (channel) => {
        for (let item = await channel.receive(); item?.kind === "value"; item = await channel.receive()) {
          await channel.send(item.value);
        }
      },
    });
    onTestFinished(() => executor.close());
    await expect.poll(() => executor.isConnected).toBe(true);
    const harness = await openNoiseChannel({ registry });
    onTestFinished(() => harness.close({ deadlineMs: 0 }));
    await harness.send("over TLS");
    expect(await harness.receive()).toMatchObject({ kind: "value", value: "over TLS" });
    expect(await listExecutors(registry)).toMatchObject([{ environmentId: "env-1", isConnected: true, harnesses: 1 }]);
    const { ca: _ca, ...untrusting } = registry;
    await expect(openNoiseChannel({ registry: untrusting })).rejects.toThrow(/self.signed/);
    await expect(openNoiseChannel({ registry: { ...registry, ca: createCertificate().cert } })).rejects.toThrow(
      /self.signed/,
    );
  },
);

it("a certificate that cannot be used is an error, and nothing listens", async () => {
  const tls = { cert: "no certificate", key: "no key" };
  await expect(listenRendezvous(new Rendezvous(), { tls })).rejects.toThrow("TLS certificate and key cannot be used");
});
