import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it, onTestFinished } from "vitest";
import { codex, finish, useCommand } from "../support.js";

const command = useCommand();
const execFileAsync = promisify(execFile);

it.each(["legacy", "auto"] as const)("codex mcp-server serves a host on stdio (%s), and ends with it", async (mode) => {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const args = [codex, "mcp-server", "-c", 'approval_policy="never"', "-c", 'sandbox_mode="danger-full-access"'];
  const transport = new StdioClientTransport({ command: process.execPath, args });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("exec_command");
  const result = await client.callTool({ name: "exec_command", arguments: { cmd: "echo $PPID; exit 3" } });
  const text = (result.content as { text: string }[])[0]?.text ?? ""; // as the tools answer
  expect(text).toMatch(/Process exited with code 3/);
  const { pid } = transport;
  await client.close();
  await expect.poll(() => isAlive(pid!)).toBe(false);
});

it.each([
  ["the first one alone", 1],
  ["all at once", 3],
])("codex mcp-server answers each request once: it gets %s", async (_, together) => {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const requests = [
    { id: 0, method: "initialize", params },
    { id: 1, method: "ping" },
    { id: 0, method: "ping" }, // the id of the first one again
  ].map((request) => `${JSON.stringify({ jsonrpc: "2.0", ...request })}\n`);
  const child = command.start(["mcp-server", "-s", "danger-full-access"]);
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  child.stdin.write(requests.splice(0, together).join(""));
  child.stdin.write('neither JSON\n{"nor":"a message"}\n');
  const ids: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (ids.push(JSON.parse(line).id) === 3) child.stdin.end();
    child.stdin.write(requests.splice(0).join(""));
  }
  expect(ids).toEqual([0, 1, 0]);
  expect(errors).toBe("codex: mcp: a line of stdin was ignored: it is not a JSON-RPC message\n");
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("codex mcp-server --print-config", () => {
  const print = async (host: string, more: string[], env = process.env) => {
    const args = [codex, "mcp-server", ...more, "--print-config", host];
    return (await execFileAsync(process.execPath, args, { env })).stdout;
  };

  it.each(["claude", "cursor", "vscode"])("names a command that exists, and repeats the options: %s", async (host) => {
    const entry: unknown = JSON.parse(await print(host, ["-s", "read-only", "--rules", "mine.rules", "--structured"]));
    const servers: unknown = Reflect.get(Object(entry), host === "vscode" ? "servers" : "mcpServers");
    const { command: program, args } = Reflect.get(Object(servers), "codex");
    expect([program, args[0]]).toEqual([process.execPath, realpathSync(codex)]);
    expect(args.slice(1)).toEqual([
      ..."mcp-server --sandbox read-only --rules".split(" "),
      join(process.cwd(), "mine.rules"),
      "--structured",
    ]);
  });

  it("names the installed command", async () => {
    const bin = mkdtempSync(join(tmpdir(), "codex-bin-"));
    onTestFinished(() => rmSync(bin, { recursive: true }));
    symlinkSync(process.execPath, join(bin, "codex-ts"));
    const text = await print("codex", ["--executor", "ws://h"], { ...process.env, PATH: bin });
    expect(text).toMatch(
      /^\[mcp_servers\.codex\]\ncommand = "codex-ts"\nargs = \["mcp-server","--executor","ws:\/\/h"\]\ntool_timeout_sec = 80/m,
    );
  });

  it("gives the address of a listener", async () => {
    const text = await print("vscode", ["--listen", "http://127.0.0.1:8080"]);
    expect(JSON.parse(text)).toEqual({ servers: { codex: { type: "http", url: "http://127.0.0.1:8080/mcp" } } });
  });
});

it.each([
  [["http://0.0.0.0:0"], /0\.0\.0\.0 can be reached from other machines.*give --listen-token-file/],
  [["stdio://", "--listen-token-file", "/nowhere"], /--listen-token-file is for a listener; stdio does not use it/],
  [["stdio", "--allowed-host", "x"], /--allowed-host is for a listener; stdio does not use it/],
  [["https://127.0.0.1:0"], /--listen https:\/\/ and --tls-cert with --tls-key need each other/],
  [["ws://127.0.0.1:0"], /expected stdio:\/\/, http:\/\/HOST:PORT or https:/],
  [["http://127.0.0.1:0", "--listen-token-file", "/nowhere"], /--listen-token-file cannot be read: ENOENT/],
])("codex mcp-server --listen %j is refused", async (args, message) => {
  const { code, stderr } = await command.run(["mcp-server", "--listen", ...args]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});

it("codex mcp-server reports a configuration that cannot be used after the handshake", async () => {
  const child = command.start(["mcp-server", "-c", 'approval_policy="sometimes"']);
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  const { code, stdout, stderr } = await finish(child);
  expect(JSON.parse(stdout.toString())).toMatchObject({ id: 1, result: { serverInfo: { name: "codex" } } });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/approval_policy/)]);
});

it("codex mcp-server refuses a hold out of its bounds", async () => {
  const { code, stderr } = await command.run(["mcp-server", "--max-hold", "301"]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/expected seconds, from 0.25 to 300, got "301"/)]);
});
