import { expect, it } from "vitest";
import { useConfig } from "./support.js";

const config = useConfig();
const SERVERS = `[mcp_servers.docs]
command = "docs-server"
args = ["a"]
[mcp_servers.other]
command = "other-server"
required = true
[mcp_servers.web]
url = "https://web.example/mcp"
[mcp_servers.off]
command = "docs-server"
enabled = false
`;

// What is on was recorded from `codex mcp list --json` of Codex 0.169.0.
it.each([
  [
    '[mcp_servers.docs.identity]\ncommand = "docs-server"\n[mcp_servers.web.identity]\nurl = "https://web.example/mcp"',
    ["docs", "web"],
  ],
  ['[mcp_servers.docs.identity]\ncommand = "evil"', []],
  ["mcp_servers = {}", []],
  ['[mcp_servers.docs.identity]\nurl = "docs-server"', []],
  ['[mcp_servers.web.identity]\nurl = "https://web.example/mcp/"', []],
  ["", ["docs", "other", "web"]],
])("requirements %j leave on the MCP servers %j", async (required, on) => {
  const { table, notices, mcpServers } = await config.load({
    "system/requirements.toml": required,
    "home/config.toml": SERVERS,
  });
  const servers = table.mcp_servers as Record<string, { enabled?: boolean; required?: boolean }>;
  expect(Object.keys(servers).filter((name) => servers[name]?.enabled !== false)).toEqual(on);
  const decided = mcpServers.map(({ name, isOn, origin }) => [name, isOn, origin.kind === "file" && origin.layer]);
  expect(decided).toEqual(
    ["docs", "other", "web", "off"].map((name) => [
      name,
      on.includes(name),
      on.includes(name) || name === "off" ? "user" : "requirements",
    ]),
  );
  // The failure of a server that is off must not end anything.
  expect(servers.other?.required).toBe(on.includes("other"));
  expect(notices).toHaveLength(3 - on.length);
  for (const notice of notices) expect(notice).toMatch(/^MCP server "\w+" is turned off by .*requirements\.toml:1: /);
});
