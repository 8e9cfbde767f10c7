import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect } from "node:tls";

/** Whether certificates can be made here. */
export const hasOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** Files `cert` and `key` of a directory, in place of those before. */
export function rotateCertificate(directory: string): void {
  const path = (name: string) => join(directory, name);
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const args = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", ...subject];
  execFileSync("openssl", ["req", ...args, "-keyout", path("key.new"), "-out", path("cert.new")], { stdio: "ignore" });
  for (const name of ["key", "cert"]) renameSync(path(`${name}.new`), path(name));
}
interface Answer {
  certificate: string;
  status: number;
}

/** What a client gets: the certificate, and the status of its request. */
export async function visit(url: string, token: string): Promise<Answer> {
  const { port, pathname } = new URL(url);
  const socket = connect({ port: Number(port), host: "127.0.0.1", rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect");
    const upgrade = "Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13";
    const request = `GET ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\n${upgrade}\r\n`;
    socket.write(`${request}Authorization: Bearer ${token}\r\n\r\n`);
    const [line] = (await once(createInterface({ input: socket }), "line")) as [string];
    return { certificate: socket.getPeerCertificate().fingerprint256, status: Number(line.split(" ")[1]) };
  } finally {
    socket.destroy();
  }
}
