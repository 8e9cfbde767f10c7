// What a managed network costs: a command's start, one connection, and 1 GB through each way of the proxy, against the same without it
// in one run. Needs curl and python3.
import { fork } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createLocalBackend } from "@codex/process-host";
import { interleave, median, printTable } from "./harness.mjs";

const BYTES = 1024 ** 3;
const CONNECTIONS = 200;
const ROUNDS = 3;

if (process.argv[2] === "serve") serve();

/** `/` is `BYTES` bytes, everything else is short. */
function serve() {
  const chunk = Buffer.alloc(1024 ** 2, "a");
  const server = createServer((request, response) => {
    if (request.url !== "/") return response.end("x");
    let left = BYTES / chunk.length;
    const write = () => {
      while (left-- > 0) if (!response.write(chunk)) return response.once("drain", write);
      response.end();
    };
    write();
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
}

export async function run() {
  const server = fork(fileURLToPath(import.meta.url), ["serve"]);
  const port = await new Promise((resolve) => server.once("message", resolve));
  const backend = createLocalBackend();
  const entries = [{ path: { type: "path", path: "/" }, access: "read" }];
  const sandbox = {
    permissions: { type: "managed", network: "restricted", file_system: { type: "restricted", entries } },
  };
  const rules = [{ pattern: `host.internal:${port}`, decision: "allow" }];
  const managed = { sandbox, network: { scope: "s", policy: { rules, mode: "full", allowLocalBinding: false } } };
  const host = { unmanaged: `127.0.0.1:${port}`, managed: `host.internal:${port}` };
  const output = async (script, more) => {
    const stdio = { kind: "pipe", stdin: "null" };
    const spec = { argv: ["/bin/bash", "-c", script], cwd: "/tmp", env: { PATH: "/usr/bin:/bin" }, stdio, ...more };
    const running = await backend.start(spec);
    const outcome = await running.exited;
    if (outcome.kind !== "exited" || outcome.code !== 0) throw new Error(JSON.stringify(outcome));
    await running.closed;
    const { chunks } = await running.log.read(0);
    return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString();
  };
  const timed = (script, more) => async () => {
    const started = performance.now();
    await output(script, more);
    return performance.now() - started;
  };
  /** Milliseconds that the command itself has measured. */
  const told = (script, more) => async () => Number(await output(script, more));
  const download = (flags, at) => `curl ${flags} -s -o /dev/null -w '%{time_total}' http://${at}/`;
  const table = async (title, subjects, rounds, unit = 1) => {
    const times = await interleave(subjects, rounds);
    const base = median(Object.values(times)[0]);
    const rows = Object.entries(times).map(([name, ms]) => ({
      name,
      ms: +(median(ms) * unit).toFixed(2),
      "of the first": +(median(ms) / base).toFixed(2),
    }));
    printTable(title, rows);
  };
  try {
    await output("true", managed);
    await table(
      "/bin/true in a sandbox",
      { "network closed": timed("true", { sandbox }), "network managed": timed("true", managed) },
      20,
    );
    await table(
      `a request on a new connection, median of ${CONNECTIONS}`,
      {
        unmanaged: told(connections(host.unmanaged)),
        CONNECT: told(connections(host.managed, true), managed),
        "by its name": told(connections(host.managed), managed),
      },
      ROUNDS,
    );
    await table(
      "1 GB",
      {
        unmanaged: told(download("", host.unmanaged)),
        CONNECT: told(download("-p", host.managed), managed),
        SOCKS5: told(download("-x $ALL_PROXY", host.managed), managed),
        "by its name": told(download("--noproxy '*'", host.managed), managed),
        "plain HTTP proxy": told(download("", host.managed), managed),
      },
      ROUNDS,
      1_000,
    );
    console.log(`memory of the executor: ${Math.round(process.resourceUsage().maxRSS / 1024)} MB at its peak`);
  } finally {
    await backend.close();
    server.kill();
  }
}

/** A script that prints the median of requests, each on its own connection, ms. */
function connections(at, isTunnel = false) {
  const [name, port] = at.split(":");
  const open = isTunnel
    ? `h, p = os.environ["HTTP_PROXY"][7:].split(":"); s = socket.create_connection((h, int(p)))
  s.sendall(b"CONNECT ${at} HTTP/1.1\\r\\nHost: ${at}\\r\\n\\r\\n"); assert b" 200 " in s.recv(999)`
    : `s = socket.create_connection(("${name}", ${port}))`;
  return `python3 -c '
import os, socket, time
all = []
for i in range(${CONNECTIONS}):
  t = time.perf_counter()
  ${open}
  s.sendall(b"GET /short HTTP/1.1\\r\\nHost: ${at}\\r\\nConnection: close\\r\\n\\r\\n")
  while s.recv(9999): pass
  all.append((time.perf_counter() - t) * 1000); s.close()
print(sorted(all)[${CONNECTIONS / 2}])'`;
}
