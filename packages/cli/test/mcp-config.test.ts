// `codex mcp`: the servers of the configuration, and changing it.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { finish, useCommand } from "./support.js";

const command = useCommand();
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "codex-mcp-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});
const file = () => join(home, "config.toml");
const run = async (...args: string[]) => {
  const child = command.start(["mcp", ...args], { CODEX_HOME: home });
  child.stdin.end();
  const { code, stdout, stderr } = await finish(child);
  return { code, stdout: stdout.toString(), stderr };
};

describe("codex mcp", () => {
  it("adds servers as Codex writes them, beside what is there, and replaces them", async () => {
    writeFileSync(file(), 'model = "m" # mine\n\n[tui]\nanimations = false\n');
    expect(
      await run("add", "docs", "--env", "A=1", "--env", "B=two words", "--", "docs-server", "a", "b c", "--flag"),
    ).toEqual({
      code: 0,
      stdout: "Added global MCP server 'docs'.\n",
      stderr: "",
    });
    await run("add", "web", "--url", "https://web.example/mcp", "--bearer-token-env-var", "TOK");
    expect(readFileSync(file(), "utf8")).toBe(`model = "m" # mine

[tui]
animations = false

[mcp_servers.docs]
command = "docs-server"
args = ["a", "b c", "--flag"]

[mcp_servers.docs.env]
A = "1"
B = "two words"

[mcp_servers.web]
url = "https://web.example/mcp"
bearer_token_env_var = "TOK"
`);
    await run("add", "docs", "--", "other");
    expect(readFileSync(file(), "utf8")).toMatch(
      /\[mcp_servers\.web\][^[]*\[mcp_servers\.docs\]\ncommand = "other"\n$/,
    );
    expect(readFileSync(file(), "utf8")).not.toContain("two words");
  });

  it("removes them, and nothing else", async () => {
    const rest = `model = "m"

# about the next one
[mcp_servers.b]
command = "b"
`;
    writeFileSync(
      file(),
      rest.replace(
        "# about",
        '[mcp_servers."a"]\ncommand = "a" # [not.a.header]\n# inside\n[mcp_servers.a.env]\nX = "1"\n\n# about',
      ),
    );
    expect((await run("remove", "a")).stdout).toBe("Removed global MCP server 'a'.\n");
    expect(readFileSync(file(), "utf8")).toBe(rest);
    expect((await run("remove", "a")).stdout).toBe("No MCP server named 'a' found.\n");
    expect(readFileSync(file(), "utf8")).toBe(rest);
  });

  it("changes nothing where that is written in another way", async () => {
    const text = 'mcp_servers = { a = { command = "a" } }\n';
    writeFileSync(file(), text);
    expect(await run("remove", "a")).toMatchObject({ code: 1, stderr: expect.stringContaining("change it by hand") });
    expect(readFileSync(file(), "utf8")).toBe(text);
  });

  it("shows servers without the values of variables and headers", async () => {
    writeFileSync(
      file(),
      '[mcp_servers.a]\ncommand = "a"\nenv = { KEY = "secret-1" }\n[mcp_servers.b]\nurl = "https://b.example"\nhttp_headers = { Authorization = "secret-2" }\nenabled = false\n',
    );
    const shown = [
      await run("list"),
      await run("list", "--json"),
      await run("get", "a"),
      await run("get", "b", "--json"),
    ];
    for (const { code, stdout, stderr } of shown) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain("secret");
    }
    expect(shown[0]?.stdout).toContain("env: KEY=*****");
    expect(JSON.parse(shown[1]?.stdout ?? "")).toMatchObject([
      { name: "a", enabled: true, disabled_reason: null, transport: { type: "stdio", env: { KEY: "*****" } } },
      { name: "b", enabled: false, transport: { type: "streamable_http", http_headers: { Authorization: "*****" } } },
    ]);
    expect(shown[2]?.stdout).toContain("remove: codex mcp remove a");
  });

  it.each([
    [["add", "x"], 2, "needs --url <url> or, after --, a command"],
    [["add", "x", "--url", "https://a", "--", "b"], 2, "needs --url <url> or, after --, a command"],
    [["add", "x", "--url", "nope"], 2, "expected http:// or https://"],
    [["add", "x", "--env", "A", "--", "b"], 2, "--env: expected KEY=VALUE"],
    [["add", "x", "--env", "A=1", "--url", "https://a"], 2, "--env is for servers that are commands"],
    [["add", "x", "--bearer-token-env-var", "T", "--", "b"], 2, "needs --url"],
    [["add", "bad name", "--", "b"], 2, 'invalid server name "bad name"'],
    [["get", "none"], 1, 'there is no MCP server "none"'],
  ])("refuses %j", async (args, code, message) => {
    expect(await run(...args)).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });
});
