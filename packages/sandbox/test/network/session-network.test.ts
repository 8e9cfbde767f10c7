// A network that commands of one session share, and from which nothing is reached but what the proxy of its policy allows.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileNetworkPolicy, parseAddress } from "@codex/network-policy";
import { NetworkProxy } from "@codex/network-proxy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandSandbox } from "../../src/command-sandbox.js";
import { PROXY_PORT } from "../../src/network/proxy-port.js";
import { type NamespaceNetwork, openSessionNetwork } from "../../src/network/session-network.js";

const find = (name: string) => ["/usr/bin", "/bin"].map((directory) => join(directory, name)).find(existsSync);
const [bubblewrap, nsenter, curl] = [find("bwrap"), find("nsenter"), find("curl")];
const PYTHON = find("python3");

const support = await createCommandSandbox().getSupport();
const isPossible = support.kind === "bubblewrap" && [bubblewrap, nsenter, curl, PYTHON].every(Boolean);

describe.runIf(isPossible)("a network of a session", () => {
  const directory = mkdtempSync(join(tmpdir(), "codex-network-"));
  const conf = join(directory, "resolv.conf");
  const web = createHttpServer((request, response) => response.end(`${request.method} ${request.headers.host}\n`));
  let network: NamespaceNetwork;
  let proxy: NetworkProxy;
  let webPort = 0;

  /** In a sandbox of this network, as a file of its own names the DNS. */
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    new Promise<{ code: number | null; output: string }>((resolve, reject) => {
      const sandbox = [bubblewrap!, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--cap-drop", "ALL"];
      const words = [...sandbox, "--ro-bind", conf, "/etc/resolv.conf", "--", ...args];
      const [file, ...entering] = network.enter(3, words);
      const child = spawn(file!, entering, {
        env: { PATH: "/usr/bin:/bin", ...env },
        stdio: ["ignore", "pipe", "pipe", ...network.descriptors],
      });
      let output = "";
      for (const stream of [child.stdout!, child.stderr!]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
        });
      }
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, output }));
    });

  beforeAll(async () => {
    writeFileSync(conf, "nameserver 127.0.0.1\n");
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    webPort = (web.address() as { port: number }).port;
    network = await openSessionNetwork({
      bubblewrap: bubblewrap!,
      nsenter: nsenter!,
      shell: "/bin/sh",
      places: [{ port: webPort }],
    });
    const rules = [
      { pattern: "pub.example", decision: "allow" as const },
      { pattern: "127.0.0.1/32", decision: "allow" as const },
    ];
    proxy = new NetworkProxy({
      policy: compileNetworkPolicy({ rules, mode: "full", allowLocalBinding: false }),
      lookup: async () => [parseAddress("127.0.0.1")!],
    });
    proxy.serveProxy(network.proxy, (socket) => socket.localAddress ?? "");
    for (const server of network.direct) proxy.serveDirect(server, webPort, () => "direct");
    proxy.serveDns(network.dns);
  });

  afterAll(() => {
    proxy?.close();
    network?.close();
    web.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const viaProxy = { http_proxy: `http://127.77.0.1:${PROXY_PORT}` };

  it("reaches an allowed host by its proxy, and is told of one that is not", async () => {
    const allowed = await run([curl!, "-sS", `http://pub.example:${webPort}/`], viaProxy);
    expect(allowed).toEqual({ code: 0, output: `GET pub.example:${webPort}\n` });
    const denied = await run(
      [curl!, "-sS", "-o", "/dev/null", "-w", "%{http_code}", "http://other.example/"],
      viaProxy,
    );
    expect(denied).toEqual({ code: 0, output: "403" });
  });

  it("reaches an allowed host without any variable, by its name alone", async () => {
    expect(await run([curl!, "-sS", `http://pub.example:${webPort}/`])).toEqual({
      code: 0,
      output: `GET pub.example:${webPort}\n`,
    });
    const denied = await run([curl!, "-sS", `http://other.example:${webPort}/`]);
    expect(denied.code).not.toBe(0);
  });

  it("reaches neither this host's loopback nor any address", async () => {
    for (const url of [`http://127.0.0.1:${webPort + 1}/`, "http://192.0.2.1/", "http://[::1]:80/"]) {
      const { code } = await run([curl!, "-sS", "-m", "2", "--noproxy", "*", url]);
      expect(code).not.toBe(0);
    }
    // The port is open inside, at an address that no name has.
    const { code } = await run([curl!, "-sS", "-m", "2", "--noproxy", "*", `http://127.0.0.1:${webPort}/`]);
    expect(code).not.toBe(0);
  });

  it("is one loopback for all commands, whose ports nobody else can take", async () => {
    const serve = `import socket,sys; s=socket.create_server(("127.0.0.1", 18080)); c,_=s.accept(); c.sendall(b"from the other"); c.close()`;
    const ask = `
import socket,time
while True:
  try: c=socket.create_connection(("127.0.0.1", 18080)); break
  except ConnectionRefusedError: time.sleep(0.01)
print(c.recv(99).decode())
`;
    const [, asked] = await Promise.all([run([PYTHON!, "-c", serve]), run([PYTHON!, "-c", ask])]);
    expect(asked).toEqual({ code: 0, output: "from the other\n" });
    const steal = `import socket
for a in ("127.77.0.5", "0.0.0.0", "127.0.0.1"):
  s=socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
  try: s.bind((a, ${PROXY_PORT})); s.listen(); print("stolen")
  except OSError as e: print(e.errno)
`;
    expect((await run([PYTHON!, "-c", steal])).output).toBe("98\n98\n98\n");
  });

  it("is gone once it is closed, with its descriptors", async () => {
    const before = readdirSync("/proc/self/fd").length;
    const other = await openSessionNetwork({
      bubblewrap: bubblewrap!,
      nsenter: nsenter!,
      shell: "/bin/sh",
      places: [],
    });
    other.close();
    other.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
  });

  it("is refused where a port cannot be used", async () => {
    const taken = openSessionNetwork({
      bubblewrap: bubblewrap!,
      nsenter: nsenter!,
      shell: "/bin/sh",
      places: [{ port: 80 }, { port: 80 }],
    });
    await expect(taken).rejects.toThrow(
      "no network of its own can be made here for commands: 0.0.0.0:80 cannot be used",
    );
  });

  it("is refused where nothing makes one", async () => {
    const failing = openSessionNetwork({ bubblewrap: "/bin/false", nsenter: nsenter!, shell: "/bin/sh", places: [] });
    await expect(failing).rejects.toThrow("no network of its own can be made here for commands: it ended with 1");
    const missing = openSessionNetwork({ bubblewrap: "/nonexistent", nsenter: nsenter!, shell: "/bin/sh", places: [] });
    await expect(missing).rejects.toThrow(
      "no network of its own can be made here for commands: spawn /nonexistent ENOENT",
    );
  });
});
