import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ExecServerClient } from "@codex/exec-server-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseExposition } from "../../telemetry/test/support/exposition-parser.js";
import { finish, useCommand } from "./support.js";

const SECRET = "s3cret-value";
const INSTRUMENTATION = new URL("programs/instrumentation.mjs", import.meta.url).href;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "codex-telemetry-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const httpOf = (url: string, path = "/metrics") => `${url.replace(/^ws:/, "http:")}${path}`;

const linesOf = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** One command through an exec-server: its arguments, its environment and its output are secrets. */
async function runOnExecServer(url: string) {
  const client = await ExecServerClient.connectWebSocket(url);
  let onClosed = () => {};
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  const argv = ["/bin/sh", "-c", `echo ${SECRET}; exit 3`];
  const request = { processId: "p1", argv, cwd: "file:///", env: { TOKEN: SECRET, PATH: "/usr/bin:/bin" }, tty: false };
  await client.start(request, (event) => {
    if (event.kind === "closed") onClosed();
  });
  await closed;
  const { sessionId } = client;
  await client.close();
  return sessionId ?? "";
}

describe.each(["executor", "exec-server"])("codex %s", (name) => {
  const command = useCommand();

  async function listen(args: readonly string[], env: Record<string, string> = {}) {
    const child = command.start([name, "--listen", "ws://127.0.0.1:0", ...args], env);
    const finished = finish(child);
    const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return { child, url, finished };
  }

  it("tells its metrics where they were asked for", async () => {
    const { url } = await listen(["--metrics"]);
    const answer = await fetch(httpOf(url));
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const families = parseExposition(await answer.text());
    const build = families.get("codex_build_info")?.samples[0];
    expect(build).toMatchObject({ value: 1, labels: { role: name } });
    expect((await fetch(httpOf(url), { headers: { origin: "https://evil.example" } })).status).toBe(403);
  });

  it("does not tell them unasked", async () => {
    const { url } = await listen([]);
    expect((await fetch(httpOf(url))).status).toBe(404);
  });

  it("tells them to who has the token", async () => {
    const file = join(directory, `${name}.token`);
    writeFileSync(file, "t0ken-of-thirty-two-characters-01", { mode: 0o600 });
    const auth =
      name === "executor" ? ["--token-file", file] : ["--ws-auth", "capability-token", "--ws-token-file", file];
    const { url } = await listen(["--metrics", ...auth]);
    const ask = (headers: Record<string, string>) => fetch(httpOf(url), { headers });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ authorization: "Bearer wrong" })).status).toBe(401);
    expect((await ask({ authorization: "Bearer t0ken-of-thirty-two-characters-01" })).status).toBe(200);
  });

  it.each([
    [["--log-level", "loud"], {}, '--log-level "loud": expected off, error, warn, info, debug'],
    [["--log-format", "xml"], {}, '--log-format "xml": expected text, json'],
    [["--log-file", "/nonexistent/x.log"], {}, "--log-file: ENOENT"],
    [[], { CODEX_LOG: "loud" }, 'CODEX_LOG "loud": expected off, error, warn, info, debug'],
    [["--listen", "stdio://", "--metrics"], {}, "--metrics needs a websocket listener"],
  ])("refuses %j with %j", async (args, env, problem) => {
    const child = command.start([name, ...args], env);
    child.stdin.end();
    const { code, stdout, stderr } = await finish(child);
    expect(stderr).toContain(problem);
    expect([code === 0, stdout.toString()]).toEqual([false, ""]);
  });

  it.each([
    [["--log-level", "info"], {}],
    [[], { CODEX_LOG: "info" }],
  ])("logs to stderr with %j %j, and says nothing else on stdout", async (args, env) => {
    const { child, url, finished } = await listen([...args, "--log-format", "json"], env);
    child.kill("SIGTERM");
    const { stdout, stderr } = await finished;
    expect(stdout.toString()).toBe(`${url}\n`);
    expect(linesOf(stderr)[0]).toMatchObject({ level: "info", event: "listening", url });
  });

  it("says nothing when all is well", async () => {
    const { child, finished } = await listen([]);
    child.kill("SIGTERM");
    expect((await finished).stderr).toBe("");
  });
});

describe("codex exec-server", () => {
  const command = useCommand();

  async function listen(args: readonly string[], env: Record<string, string> = {}) {
    const child = command.start(["exec-server", ...args], env);
    const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return { child, url };
  }

  it("logs a command to a file for its owner, without arguments, environment and output", async () => {
    const file = join(directory, "server.log");
    const { child, url } = await listen(["--log-file", file, "--log-level", "debug", "--metrics"]);
    const sessionId = await runOnExecServer(url);
    const families = parseExposition(await (await fetch(httpOf(url))).text());
    child.kill("SIGTERM");
    await once(child, "close");
    const text = readFileSync(file, "utf8");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(linesOf(text)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: "process started", program: "sh", stdio: "pipe" }),
        expect.objectContaining({ event: "process ended", outcome: "exited", code: 3, bytes: SECRET.length + 1 }),
        expect.objectContaining({ event: "request answered", method: "process/start", status: "ok" }),
        expect.objectContaining({ event: "session attached", session: sessionId.slice(0, 8) }),
      ]),
    );
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(sessionId);
    const read = (metric: string, labels: Record<string, string> = {}) =>
      families.get(metric)?.samples.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels))?.value;
    expect(read("codex_processes_ended_total", { outcome: "exited" })).toBe(1);
    expect(read("codex_output_bytes_total")).toBe(SECRET.length + 1);
    expect(read("codex_exec_server_connections_total")).toBe(1);
    expect(read("codex_exec_server_requests_total", { method: "process/start", status: "ok" })).toBe(1);
  });

  it("goes on serving while nobody reads its log", async () => {
    const child = command.start(["exec-server", "--listen", "stdio", "--log-level", "debug"]);
    const answers = createInterface({ input: child.stdout });
    const send = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`);
    send({ id: 0, method: "initialize", params: { clientName: "test", resumeSessionId: null } });
    send({ method: "initialized", params: {} });
    const count = 15_000; // about 2 MB of log
    for (let id = 1; id <= count; id++) send({ id, method: "process/list" });
    let answered = 0;
    for await (const _line of answers) if (++answered > count) break;
    expect(answered).toBe(count + 1);
    child.stdin.end();
    await once(child, "exit");
  });

  it("makes spans with an SDK that was registered before, and nothing without", async () => {
    const file = join(directory, "spans.jsonl");
    const env = { NODE_OPTIONS: `--import ${INSTRUMENTATION}`, SPANS: file };
    const { url } = await listen([], env);
    await runOnExecServer(url);
    const spans = linesOf(readFileSync(file, "utf8"));
    const start = spans.find(({ name }) => name === "process/start");
    const life = spans.find(({ name }) => name === "sh");
    expect(start).toMatchObject({
      kind: 1,
      attributes: { "rpc.system.name": "jsonrpc", "rpc.method": "process/start" },
    });
    expect(life).toMatchObject({
      parent: start?.spanId,
      traceId: start?.traceId,
      attributes: { "process.exit.code": 3 },
    });
    expect(JSON.stringify(spans)).not.toContain(SECRET);
  });
});
