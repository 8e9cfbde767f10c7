// Processes of a network of their own, from which only what its policy allows is reached.

import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NetworkSpec, ProcessSpec } from "@codex/exec-backend";
import type { HostQuestion, HostVerdict, Sandbox } from "@codex/executor-protocol";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { outputOf, untilOutput, useBackend } from "./support.js";

const support = await createCommandSandbox().getSupport();
const has = (name: string) => ["/usr/bin", "/bin"].some((directory) => existsSync(join(directory, name)));
const isPossible = support.kind === "bubblewrap" && ["nsenter", "curl", "python3"].every(has);

describe.runIf(isPossible)("a process with a network", () => {
  const { run } = useBackend();
  const web = createHttpServer((request, response) => response.end(`${request.method} ${request.headers.host}\n`));
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    port = (web.address() as AddressInfo).port;
  });
  afterAll(() => web.close());

  const makeDirectory = () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "codex-network-")));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    return directory;
  };
  /** Only `localhost:port` of this host is allowed, as `host.internal`. */
  const createNetwork = (scope = "s"): NetworkSpec => ({
    scope,
    policy: {
      rules: [{ pattern: `host.internal:${port}`, decision: "allow", source: "config.toml:3" }],
      mode: "full",
      allowLocalBinding: false,
    },
  });
  /** It is asked about although it is allowed. */
  const createAsking = (scope: string): NetworkSpec => {
    const { policy } = createNetwork();
    const rules = [...policy.rules, { pattern: `host.internal:${port}`, decision: "ask" as const }];
    return { scope, policy: { ...policy, rules } };
  };
  const start = (script: string, { network = createNetwork(), ...more }: Partial<ProcessSpec> = {}) => {
    const cwd = more.cwd ?? makeDirectory();
    const path = (place: string) => ({ type: "path" as const, path: place });
    const entries = [
      { path: path("/"), access: "read" as const },
      { path: path(cwd), access: "write" as const },
    ];
    const sandbox: Sandbox = {
      permissions: { type: "managed", network: "restricted", file_system: { type: "restricted", entries } },
    };
    return run(["/bin/bash", "-c", script], {
      cwd,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" },
      sandbox,
      network,
      ...more,
    });
  };

  it("reaches an allowed host with its proxy and by its name alone, and is told which others it does not", async () => {
    const url = `http://host.internal:${port}/`;
    const script = `curl -sS ${url}; curl -sS --noproxy '*' ${url}
for i in 1 2 3; do curl -s -o /dev/null -w '%{http_code} ' http://other.example/; done
curl -sS --noproxy '*' http://other.example/ 2>/dev/null || echo reset`;
    const process = await start(script);
    expect(await outputOf(process)).toBe(`GET host.internal:${port}\nGET host.internal:${port}\n403 403 403 reset\n`);
    expect(process.network).toEqual({
      denied: [
        { host: "other.example", port: 80, protocol: "http", reason: "not_allowed", count: 3 },
        { host: "other.example", port: 80, protocol: "direct", reason: "not_allowed", count: 1 },
      ],
      omitted: 0,
    });
  });

  it("is told of a name that it looked up and could not connect to, as nothing listens for it at that port", async () => {
    const script = `for at in nobody.example:5432 host.internal:${port}; do curl -sS --noproxy '*' http://$at/ 2>/dev/null; done`;
    const process = await start(script);
    expect(await outputOf(process)).toBe(`GET host.internal:${port}\n`);
    expect(process.network?.denied).toEqual([
      { host: "nobody.example", port: 0, protocol: "direct", reason: "looked_up", count: 1 },
    ]);
  });

  it("reaches neither the loopback of its host, nor an address, nor a socket in a file", async () => {
    const directory = makeDirectory();
    const local = createServer().listen(join(directory, "socket"));
    onTestFinished(() => void local.close());
    const script = `for url in http://127.0.0.1:${port}/ http://192.0.2.1/ 'http://[::1]:${port}/'; do
  curl -sS -m 5 --noproxy '*' $url >/dev/null 2>&1 && echo "reached $url"; done
curl -s -m 5 --unix-socket ${directory}/socket http://x/ >/dev/null && echo reached the socket
ls /proc/self/fd | tr '\\n' ' '`;
    expect(await outputOf(await start(script))).toBe("0 1 2 3 ");
  });

  it("shares its loopback with those of its scope and policy, and with no others", async () => {
    const serve = `python3 -c '
import socket; s = socket.create_server(("127.0.0.1", 18081)); print("listens", flush=True)
while True: c, _ = s.accept(); c.sendall(b"hello"); c.close()'`;
    const server = await start(serve);
    await untilOutput(server, "listens");
    const ask = `python3 -c '
import socket
try: print(socket.create_connection(("127.0.0.1", 18081)).recv(9).decode())
except OSError as e: print(e.errno)'`;
    expect(await outputOf(await start(ask))).toBe("hello\n");
    expect(await outputOf(await start(ask, { network: createNetwork("another") }))).toBe("111\n");
    const { policy } = createNetwork();
    const wider = {
      scope: "s",
      policy: { ...policy, rules: [...policy.rules, { pattern: "x.example", decision: "allow" }] },
    };
    expect(await outputOf(await start(ask, { network: wider as NetworkSpec }))).toBe("111\n");
    await server.terminate({ graceMs: 0 });
  });

  it("has its programs judged, and those that leave for the host's network are not sent to its proxy", async () => {
    const inside = { kind: "inside" } as const;
    const outside = { kind: "outside", profile: "network" } as const;
    const rules = [
      { id: "touch", pattern: [["touch"]], decision: "refuse", place: inside },
      { id: "printenv", pattern: [["printenv"]], decision: "allow", place: outside },
    ] as const;
    const script = "touch made; echo $?; printenv http_proxy; env | grep -c ^http_proxy=";
    const process = await start(script, { gate: { rules, hostExecutables: [], approved: [] } });
    expect(await outputOf(process)).toMatch(/126\n1\n$/);
    expect(process.gate).toMatchObject({ reports: [{ rule: "touch", decision: "refused" }, { decision: "outside" }] });
  });

  it("is no wider for a program that may write elsewhere, outside of its sandbox", async () => {
    const out = makeDirectory();
    const place = { kind: "outside", profile: { write: [out] } } as const;
    const rules = [{ id: "curl", pattern: [["curl"]], decision: "allow", place }] as const;
    const script = `curl -sS -o ${out}/reached http://host.internal:${port}/; echo $?; curl -sS -m 5 -o ${out}/x --noproxy '*' http://127.0.0.1:${port}/ 2>/dev/null; echo $?
curl -s -o /dev/null -w '%{http_code}' http://other.example/`;
    const process = await start(script, { gate: { rules, hostExecutables: [], approved: [] } });
    expect(await outputOf(process)).toBe("0\n7\n403");
    expect(readdirSync(out)).toEqual(["reached"]);
    expect(process.network?.denied).toMatchObject([{ host: "other.example", count: 1 }]);
    expect(process.gate).toMatchObject({ reports: [{ decision: "outside" }, {}, {}] });
  });

  it("has a host that no rule decides about asked about once, for itself or for all of its network", async () => {
    const asked: HostQuestion[] = [];
    const withAnswers = (...verdicts: HostVerdict[]): NetworkSpec => ({
      ...createAsking("asks"),
      questions: {
        timeoutMs: 60_000,
        ask: async (question) => {
          asked.push(question);
          return verdicts.shift() ?? "unasked";
        },
      },
    });
    const host = "host.internal";
    const twice = `for i in 1 2; do curl -s -o /dev/null -w '%{http_code} ' http://${host}:${port}/; done`;
    expect(await outputOf(await start(twice, { network: withAnswers("allow") }))).toBe("200 200 ");
    const declined = await start(twice, { network: withAnswers("declined") });
    expect(await outputOf(declined)).toBe("403 403 ");
    expect(declined.network?.denied).toEqual([
      { host, port, protocol: "http", reason: "not_allowed", answer: "declined", count: 2, rule: expect.anything() },
    ]);
    expect(await outputOf(await start(twice, { network: withAnswers("allow_for_session") }))).toBe("200 200 ");
    expect(await outputOf(await start(twice, { network: withAnswers() }))).toBe("200 200 ");
    expect(asked).toEqual(Array(3).fill({ host, port, protocol: "http" }));
  });

  it("asks no more, and has no name looked up for it, once nobody could be asked", async () => {
    let asked = 0;
    const ask = async () => {
      asked += 1;
      return "unasked" as const;
    };
    const network = { ...createAsking("nobody"), questions: { timeoutMs: 60_000, ask } };
    const get = (url: string) => `curl -s -o /dev/null -w '%{http_code} ' ${url}; `;
    const script =
      get(`http://host.internal:${port}/`) + get(`http://host.internal:${port}/`) + get("http://unknown.invalid/");
    const process = await start(script, { network });
    // A name that was looked up would not have been found: 502.
    expect([await outputOf(process), asked]).toEqual(["403 403 403 ", 1]);
  });

  it("is denied a host that nobody has answered about in time, and the question is withdrawn", async () => {
    let withdrawn = false;
    const ask = (_question: HostQuestion, signal: AbortSignal) =>
      new Promise<HostVerdict>((resolve) => {
        signal.addEventListener("abort", () => {
          withdrawn = true;
          resolve("unasked");
        });
      });
    const network = { ...createAsking("late"), questions: { timeoutMs: 50, ask } };
    const process = await start(`curl -s -o /dev/null -w '%{http_code}' http://host.internal:${port}/`, { network });
    expect(await outputOf(process)).toBe("403");
    expect([withdrawn, process.network?.denied[0]?.answer]).toEqual([true, "unanswered"]);
  });

  it("is refused without a sandbox, and with a policy that is none", async () => {
    const bare = run(["/bin/true"], { network: createNetwork() });
    await expect(bare).rejects.toMatchObject({ code: "sandbox_invalid" });
    const rules = [{ pattern: "http://x/", decision: "allow" as const, source: "config.toml:7" }];
    const broken = start("true", {
      network: { scope: "s", policy: { rules, mode: "full", allowLocalBinding: false } },
    });
    await expect(broken).rejects.toThrow(/the network policy is none: config\.toml:7: network pattern "http:\/\/x\/"/);
  });

  it("loses what it is connected to when it ends", async () => {
    const silent = createServer((socket) => socket.on("error", () => {}).resume());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const { port: open } = silent.address() as AddressInfo;
    const connected = once(silent, "connection");
    const rules = [{ pattern: `host.internal:${open}`, decision: "allow" as const }];
    const network = { scope: "s", policy: { rules, mode: "full" as const, allowLocalBinding: false } };
    const process = await start(`curl -sS http://host.internal:${open}/ & echo $!; wait`, { network });
    const [socket] = (await connected) as [Socket];
    const ended = once(socket, "close");
    await process.terminate({ graceMs: 0 });
    await ended;
  });
});
