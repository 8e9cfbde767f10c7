// Routes with secrets: a command reaches a host that wants a token, and the token is nowhere where the command is.

import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostDecision, NetworkSpec, ProcessSpec } from "@codex/exec-backend";
import type { NetworkRoute, Sandbox } from "@codex/executor-protocol";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { outputOf, useBackend } from "./support.js";

const support = await createCommandSandbox().getSupport();
const has = (name: string) => ["/usr/bin", "/bin"].some((directory) => existsSync(join(directory, name)));
const isPossible = support.kind === "bubblewrap" && ["nsenter", "curl", "git", "openssl", "python3"].every(has);

const TOKEN = "ghp_aVeryLongTokenThatIsNowhere0123456789";
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString("base64");

describe.runIf(isPossible)("a route", () => {
  const { run } = useBackend();
  let directory = "";
  let server: Server;
  let port = 0;
  /** What the server was asked: method, path and `authorization`. */
  const asked: string[] = [];

  beforeAll(async () => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), "codex-routes-")));
    chmodSync(directory, 0o755);
    const at = (name: string) => join(directory, name);
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const name = ["-subj", "/CN=x", "-addext", "subjectAltName=DNS:host.internal"];
    execFileSync("openssl", ["req", "-x509", ...curve, ...name, "-keyout", at("key"), "-out", at("cert")], {
      stdio: "ignore",
    });
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", at("repo.git")]);
    execFileSync("git", ["-C", at("repo.git"), "config", "http.receivepack", "true"]);
    writeFileSync(at("token"), `${TOKEN}\n`, { mode: 0o644 });
    server = createServer({ key: readFileSync(at("key")), cert: readFileSync(at("cert")) }, answer);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Lets in who has the token: a git server, and plain answers. */
  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = "/", headers } = request;
    asked.push(`${method} ${url.replace(/\?.*/, "")} ${headers.authorization ?? headers["x-api-key"] ?? "nobody"}`);
    if (
      ![`Bearer ${TOKEN}`, `Basic ${BASIC}`, `token ${TOKEN}`].includes(headers.authorization ?? "") &&
      headers["x-api-key"] !== TOKEN
    ) {
      return void response.writeHead(401, { "www-authenticate": "Basic" }).end("who are you?\n");
    }
    if (url === "/moved") return void response.writeHead(302, { location: `https://host.internal:${port}/here` }).end();
    if (!url.startsWith("/repo.git/")) return void response.end(`${method} ${url} at ${headers.host}\n`);
    const [path, query = ""] = url.split("?");
    const git = spawn("git", ["http-backend"], {
      env: {
        ...process.env,
        GIT_PROJECT_ROOT: directory,
        GIT_HTTP_EXPORT_ALL: "1",
        REMOTE_USER: "t",
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: method,
        CONTENT_TYPE: headers["content-type"] ?? "",
        ...(headers["content-encoding"] && { HTTP_CONTENT_ENCODING: headers["content-encoding"] }),
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.directory",
        GIT_CONFIG_VALUE_0: "*",
      },
    });
    request.pipe(git.stdin);
    const chunks: Buffer[] = [];
    git.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    git.once("close", () => {
      const output = Buffer.concat(chunks);
      const end = output.indexOf("\r\n\r\n");
      for (const line of output.subarray(0, end).toString().split("\r\n")) {
        const [header = "", value = ""] = line.split(/: (.*)/s);
        if (header.toLowerCase() === "status") response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(header, value);
      }
      response.end(output.subarray(end + 4));
    });
  }

  const route = (more: Partial<NetworkRoute> = {}): NetworkRoute => ({
    name: "forge",
    url: `https://host.internal:${port}`,
    secret: { kind: "file", path: join(directory, "token") },
    caFile: join(directory, "cert"),
    ...more,
  });
  const decisions: HostDecision[] = [];
  const start = (
    script: string,
    routes: NetworkRoute[],
    more: Partial<ProcessSpec> = {},
    policy: Partial<NetworkSpec["policy"]> = {},
  ) => {
    asked.length = 0;
    decisions.length = 0;
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "codex-route-")));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const path = (place: string) => ({ type: "path" as const, path: place });
    const entries = [
      { path: path("/"), access: "read" as const },
      { path: path(cwd), access: "write" as const },
    ];
    const sandbox: Sandbox = {
      permissions: { type: "managed", network: "restricted", file_system: { type: "restricted", entries } },
    };
    const network: NetworkSpec = {
      scope: `${Math.random()}`,
      policy: { rules: [], mode: "full", allowLocalBinding: false, ...policy },
      routes,
      onDecision: (decision) => decisions.push(decision),
    };
    const env = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      LC_ALL: "C",
      HOME: cwd,
      MARK: "inTheMemoryOfTheShell",
      TOKEN_FILE: join(directory, "token"),
    };
    return run(["/bin/bash", "-c", script], { cwd, env, sandbox, network, ...more });
  };

  it("lets `git push` in by the usual URL, and its token is nowhere in the sandbox", async () => {
    const script = `set -e; mkdir w; cd w
git init -q -b main . && git config user.name t && git config user.email t@example.com
echo one >one && git add . && git commit -qm first
git remote add origin https://host.internal:${port}/repo.git && git push -q origin main
git clone -q https://host.internal:${port}/repo.git again && cat again/one
set +e
env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; cat "$TOKEN_FILE"; git config --list --show-origin; cat .git/config
python3 - <<'P'
import glob, os
seen = False
for maps in glob.glob("/proc/[0-9]*/maps"):
  if maps == f"/proc/{os.getpid()}/maps": continue
  try: lines = open(maps).read().splitlines()
  except OSError: continue
  for line in lines:
    span, rights = line.split()[:2]
    if "r" not in rights or "[v" in line: continue
    start, end = (int(each, 16) for each in span.split("-"))
    try:
      with open(maps[:-4] + "mem", "rb") as memory:
        memory.seek(start); found = memory.read(min(end - start, 1 << 26))
    except (OSError, ValueError, OverflowError): continue
    if b"aVery" b"LongToken" in found: print("found", maps, line)
    if os.environ["MARK"].encode() in found: seen = True
print("searched", seen)
P`;
    const process = await start(script, [route({ scheme: "basic", tools: ["git"] })]);
    const output = await outputOf(process);
    expect(output).toMatch(/^one\n/);
    // What the shell has in its memory is found.
    expect(output).toMatch(/searched True\n$/);
    for (const secret of [TOKEN, BASIC, "found /proc"]) expect(output).not.toContain(secret);
    expect(output).toContain("Permission denied");
    expect(asked.filter((each) => !each.includes(BASIC))).toEqual([]);
    expect(
      execFileSync("git", ["-C", join(directory, "repo.git"), "log", "--format=%s"], { encoding: "utf8", env: SAFE }),
    ).toBe("first\n");
    expect(decisions).toContainEqual({
      ...{ host: "host.internal", port, protocol: "connect", decision: "allow", source: "policy", count: 1 },
      rule: { pattern: `host.internal:${port}`, source: "route forge" },
    });
    expect(JSON.stringify([decisions, process.network])).not.toContain(TOKEN);
  });

  it("is reached in every way, with the header that it is configured with", async () => {
    const get = (flags: string) => `curl -sS ${flags} http://forge.route/a?b; `;
    const ways = [
      get(""),
      get("--noproxy '*'"),
      get("-p"),
      get("-x $ALL_PROXY"),
      `curl -sSL http://forge.route/moved; `,
    ];
    const script = `${ways.join("")}curl -s -o /dev/null -w '%{redirect_url}\\n' http://forge.route/moved
curl -sS -H 'Authorization: Bearer mine' http://forge.route/c; curl -sS -d x http://forge.route/post`;
    const output = await outputOf(await start(script, [route()]));
    const answered = (line: string) => `${line} at host.internal:${port}\n`;
    const here = `${answered("GET /here")}http://forge.route/here\n`;
    expect(output).toBe(answered("GET /a?b").repeat(4) + here + answered("GET /c") + answered("POST /post"));
    expect(asked.every((each) => each.endsWith(`Bearer ${TOKEN}`))).toBe(true);
    const plain = route({ scheme: "plain", header: "X-Api-Key", url: `https://host.internal:${port}/below/` });
    expect(await outputOf(await start("curl -sS http://forge.route/x", [plain]))).toBe(answered("GET /below/x"));
  });

  it("has its secret from a variable or a program of the executor, which the command does not have", async () => {
    process.env.CODEX_TEST_SECRET = TOKEN;
    onTestFinished(() => void delete process.env.CODEX_TEST_SECRET);
    const variable = route({ secret: { kind: "variable", name: "CODEX_TEST_SECRET" } });
    const command = route({
      name: "made",
      secret: { kind: "command", argv: ["/bin/sh", "-c", `cat ${join(directory, "token")}`] },
    });
    const env = { PATH: "/usr/bin:/bin", CODEX_TEST_SECRET: TOKEN, OTHER_SECRET: `--token=${TOKEN}` };
    const script = "curl -sS http://forge.route/v; curl -sS http://made.route/c; env | grep -c SECRET";
    const output = await outputOf(await start(script, [variable, command], { env }));
    expect(output).toBe(`GET /v at host.internal:${port}\nGET /c at host.internal:${port}\n0\n`);
  });

  it("has its secret from a link, and neither that nor the file that it leads to can be read", async () => {
    const link = join(directory, "link");
    symlinkSync(join(directory, "token"), link);
    onTestFinished(() => rmSync(link));
    const script = `curl -sS http://forge.route/l; cat ${link} "$TOKEN_FILE" 2>&1 | grep -c denied; cat ${link} "$TOKEN_FILE" 2>/dev/null | wc -c`;
    const output = await outputOf(await start(script, [route({ secret: { kind: "file", path: link } })]));
    expect(output).toBe(`GET /l at host.internal:${port}\n2\n0\n`);
  });

  it.each<[string, Partial<NetworkRoute>, Partial<NetworkSpec["policy"]>, string, string]>([
    ["its paths", { paths: ["/org/"] }, {}, "/org/../x --path-as-is", "403 path_not_allowed"],
    ["mode `limited`", {}, { mode: "limited" }, "/x -d y", "403 method_not_allowed"],
    ["TRACE", {}, {}, "/x -X TRACE", "403 method_not_allowed"],
    [
      "a rule that forbids its host",
      {},
      { rules: [{ pattern: "**.internal:1-65535", decision: "deny" }] },
      "/x",
      "403 denied",
    ],
    ["a certificate that is not trusted", { caFile: undefined }, {}, "/x", "502 untrusted"],
    [
      "a secret that is not there",
      { secret: { kind: "variable", name: "CODEX_NOT_SET" } },
      {},
      "/x",
      "502 secret_unavailable",
    ],
    [
      "a secret with a line break",
      { secret: { kind: "command", argv: ["printf", "a\\nb"] } },
      {},
      "/x",
      "502 secret_unavailable",
    ],
    ["a program that fails", { secret: { kind: "command", argv: ["false"] } }, {}, "/x", "502 secret_unavailable"],
    ["another port", {}, {}, ":81/x", "403 path_not_allowed"],
  ])("is held by %s", async (_, more, policy, request, expected) => {
    const script = `curl -s -w ' %{http_code} ' http://forge.route${request} | python3 -c '
import re, sys; text = sys.stdin.read(); print(re.search(" (\\d+) $", text)[1], re.search("reason.:.(\\w+)", text)[1])'`;
    const output = await outputOf(await start(script, [route(more)], {}, policy));
    expect(output).toBe(`${expected}\n`);
    expect(asked).toEqual([]);
  });

  it("is not named to a program that leaves for the host's network, where it does not exist", async () => {
    const place = { kind: "outside", profile: "network" } as const;
    const rules = [{ id: "printenv", pattern: [["printenv"]], decision: "allow", place }] as const;
    const gate = { rules, hostExecutables: [], approved: [] };
    const script = "env | grep -c forge.route; printenv | grep -c forge.route";
    const process = await start(script, [route({ tools: ["git", "npm", "pip"] })], { gate });
    expect(process.gate?.kind).toBe("held");
    expect(await outputOf(process)).toBe("6\n0\n");
  });

  it("is refused where its secret could not be kept from the command, and where it is none", async () => {
    const unlimited: Sandbox = {
      permissions: { type: "managed", network: "restricted", file_system: { type: "unrestricted" } },
    };
    await expect(start("true", [route()], { sandbox: unlimited })).rejects.toThrow(
      /route "forge": the command could read its secret/,
    );
    await expect(start("true", [route({ url: "http://x.example/" })])).rejects.toThrow(
      /route "forge": url .* does not begin/,
    );
    await expect(start("true", [route({ caFile: "/nonexistent" })])).rejects.toThrow(
      /its certificates \/nonexistent cannot be read/,
    );
  });

  it("is no way to other hosts, nor for other processes", async () => {
    const script = `for at in other.route forge.route:443 forge.route.example host.internal:${port}; do
  curl -s -o /dev/null -w '%{http_code} ' -p http://$at/ 2>/dev/null || true; done
curl -s -o /dev/null -w '%{http_code}\\n' -H 'Host: host.internal:${port}' http://forge.route/`;
    expect(await outputOf(await start(script, [route()]))).toBe("000 000 000 000 400\n");
    expect(await outputOf(await start("curl -s -o /dev/null -w '%{http_code}' http://forge.route/", []))).toBe("403");
    expect(asked).toEqual([]);
  });
});

const SAFE = { ...process.env, GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*" };
