import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { codex, useCommand } from "../support.js";
import { type Answer, CLIENTS, connect, type Target, type TestClient, textOf } from "./clients.js";

const command = useCommand();

/** Runs everything, or asks about everything that is not known to be safe. */
type Policy = "never" | "untrusted";

const argsFor = (policy: Policy) => ["mcp-server", "-a", policy, "-s", "danger-full-access"];

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "codex mcp "));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

async function listen(policy: Policy, more: string[] = []): Promise<string> {
  const child = command.start([...argsFor(policy), "--listen", "http://127.0.0.1:0", ...more]);
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return url;
}

const OPEN = {
  stdio: (policy: Policy): Target => ({ command: process.execPath, args: [codex, ...argsFor(policy)] }),
  http: async (policy: Policy): Promise<Target> => ({ url: await listen(policy) }),
};

const exec = (client: TestClient, cmd: string, more: object = {}) =>
  client.callTool({ name: "exec_command", arguments: { cmd, login: false, ...more } });

describe.each(Object.keys(OPEN) as (keyof typeof OPEN)[])("codex mcp-server over %s", (transport) => {
  describe.each(CLIENTS)("with the client %s", (kind) => {
    const open = async (policy: Policy, answer?: Answer) => connect(kind, await OPEN[transport](policy), answer);

    it("runs commands, sessions and bursts of output", async () => {
      const client = await open("never");
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("write_stdin");

      const failed = await exec(client, "echo out; exit 3", { no_such_argument: 1 });
      expect(textOf(failed)).toMatch(/Process exited with code 3\n.*Output:\nout\n$/s);

      const dialogue = "stty -echo; printf 'name? '; read name; echo hello $name";
      const started = await exec(client, dialogue, { tty: true, yield_time_ms: 30_000, until: "prompt" });
      const session = Number(/session ID (\d+)/.exec(textOf(started))?.[1]);
      const args = { session_id: session, chars: "ann\r", until: "exit", yield_time_ms: 30_000 };
      expect(textOf(await client.callTool({ name: "write_stdin", arguments: args }))).toMatch(/hello ann/);

      const burst = textOf(await exec(client, "head -c 3000000 /dev/zero | tr '\\0' a", { yield_time_ms: 30_000 }));
      expect(burst).toMatch(
        /Bytes 20000-2980000 were left out: read_output with session_id \d+ and from 20000 reads them/,
      );
      expect(burst.length).toBeLessThan(60_000);
    });

    it("sends progress, and names the session of a cancelled call in the next result", async () => {
      const client = await open("never");
      const abort = new AbortController();
      const lines: (string | undefined)[] = [];
      const args = { cmd: "echo up; exec cat", login: false, stdin: "open", yield_time_ms: 30_000 };
      const onprogress = ({ message }: { message?: string | undefined }) => {
        lines.push(message);
        abort.abort();
      };
      const params = { name: "exec_command", arguments: args };
      await expect(client.callTool(params, { signal: abort.signal, onprogress })).rejects.toThrow();
      expect(lines[0]).toBe("up");
      await expect
        .poll(async () => textOf(await exec(client, "true")))
        .toMatch(/^Note: an earlier call was cancelled by the client; its program runs on as session \d+\n/);
    });

    it.each(["accept", "decline", undefined] as const)("asks for approval, with the answer %s", async (answer) => {
      const file = join(temporary(), "ran");
      const client = await open("untrusted", answer);
      const text = textOf(await exec(client, `echo once >> '${file}'`));
      if (answer === "accept") expect(readFileSync(file, "utf8")).toBe("once\n");
      else expect(existsSync(file)).toBe(false);
      if (answer === "decline") expect(text).toMatch(/the client declined it/);
      if (answer === undefined) expect(text).toMatch(/this MCP client cannot ask its user/);
    });
  });
});

it("starts no executor for a probe, and leaves nothing of one that is killed", async () => {
  const directory = temporary();
  // An executor that leaves a file when it is started.
  const executor = `touch '${join(directory, "started")}'; exec '${process.execPath}' '${codex}' executor`;
  const child = command.start(["mcp-server", "--executor", executor]);
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "probe", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const request = { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: meta } };
  child.stdin.write(`${JSON.stringify(request)}\n`);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  expect(JSON.parse(line)).toMatchObject({ id: 1, result: { supportedVersions: ["2026-07-28"] } });
  child.kill("SIGKILL");
  await once(child, "close");
  expect(existsSync(join(directory, "started"))).toBe(false);
});

describe("codex mcp-server over HTTP", () => {
  it.each(CLIENTS)("keeps the clients of two tokens apart, and refuses others: %s", async (kind) => {
    const directory = temporary();
    const files = ["one", "two"].map((token) => {
      const file = join(directory, token);
      writeFileSync(file, `${token}\n`);
      return ["--listen-token-file", file];
    });
    const url = await listen("never", files.flat());
    const [one, two] = [await connect(kind, { url, token: "one" }), await connect(kind, { url, token: "two" })];
    const started = await exec(one, "exec cat", { stdin: "open", yield_time_ms: 250 });
    const session = Number(/session ID (\d+)/.exec(textOf(started))?.[1]);
    const read = { name: "read_output", arguments: { session_id: session } };
    expect((await one.callTool(read)).isError).toBe(false);
    expect(textOf(await two.callTool(read))).toMatch(/unknown session/);
    await expect(connect(kind, { url, token: "three" })).rejects.toThrow();
    await expect(connect(kind, { url })).rejects.toThrow();
  });
});
