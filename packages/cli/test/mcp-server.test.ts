import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it, onTestFinished } from "vitest";
import { codex, useCommand } from "./support.js";

const command = useCommand();

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

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.each([
  ["claude", /^\{\n {2}"mcpServers": \{\n {4}"codex": \{\n {6}"command": "codex-ts"/],
  ["vscode", /"servers"/],
  [
    "codex",
    /^\[mcp_servers\.codex\]\ncommand = "codex-ts"\nargs = \["mcp-server","--executor","ws:\/\/h"\]\ntool_timeout_sec = 80/m,
  ],
])("codex mcp-server prints the entry for %s", async (host, expected) => {
  const { code, stdout } = await command.run(["mcp-server", "--executor", "ws://h", "--print-config", host]);
  expect([code, stdout.toString()]).toEqual([0, expect.stringMatching(expected)]);
});

it("codex mcp-server refuses a hold out of its bounds", async () => {
  const { code, stderr } = await command.run(["mcp-server", "--max-hold", "301"]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/maxHoldMs is 301000; expected/)]);
});
