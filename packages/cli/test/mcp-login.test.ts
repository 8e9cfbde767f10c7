// `codex mcp login`: a server that wants OAuth, its authorization server on this host.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type AuthorizationServer, listenAuthorization } from "../../mcp-client/test/oauth/authorization-server.js";
import { createMcpHandler, listenHttp } from "../../mcp-client/test/support.js";
import { Terminal } from "./pty.js";
import { codex, finish, useCommand } from "./support.js";

const command = useCommand();
let home = "";
let server: AuthorizationServer;
beforeEach(async () => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "codex-mcp-login-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  server = await listenAuthorization({ handle: createMcpHandler() });
  onTestFinished(() => server.close());
  configure();
});
const configure = (more = "", rest = "") =>
  writeFileSync(join(home, "config.toml"), `${rest}[mcp_servers.docs]\nurl = "${server.url}"\n${more}`);
const run = async (...args: string[]) => {
  const child = command.start(args, { CODEX_HOME: home });
  child.stdin.end();
  const { code, stdout, stderr } = await finish(child);
  return { code, stdout: stdout.toString(), stderr };
};

/** `codex mcp login`, and what a person does with the URL that it prints. */
async function logIn(
  visit: (url: string, child: ReturnType<typeof command.start>) => Promise<void>,
  ...args: string[]
) {
  const child = command.start(["mcp", "login", "docs", "--no-browser", ...args], { CODEX_HOME: home });
  let shown = "";
  child.stdout.on("data", (bytes: Buffer) => {
    shown += bytes.toString();
    const [url] = /^http.*$/m.exec(shown) ?? [];
    if (url === undefined) return;
    child.stdout.removeAllListeners("data");
    void visit(url, child);
  });
  const { code, stderr } = await finish(child);
  return { code, stderr };
}
const approve = async (url: string) => void (await fetch(url));
const echo = () => run("tools", "call", "mcp__docs__echo", '{"words":"hi"}');
const auth = async () => (JSON.parse((await run("mcp", "list", "--json")).stdout) as { auth_status: string }[])[0];

describe("codex mcp login", () => {
  it("logs in once; then the tools of the server are there, until `logout`", async () => {
    expect(await auth()).toMatchObject({ auth_status: "not_logged_in" });
    expect((await echo()).stderr).toContain("it wants a login: `codex mcp login docs`");
    expect(await logIn(approve, "--scopes", "read,write")).toMatchObject({ code: 0 });
    expect(server.asked).toMatchObject({ scope: "read write" });
    expect(await auth()).toMatchObject({ auth_status: "o_auth" });
    expect(await echo()).toMatchObject({ code: 0, stdout: expect.stringContaining("hi") });
    server.expire();
    expect(await echo()).toMatchObject({ code: 0, stdout: expect.stringContaining("hi") });
    expect(server.log).toContain("POST /token grant_type=refresh_token");
    const all = [await run("mcp", "get", "docs"), await run("mcp", "list"), await run("config", "show")];
    for (const token of server.issued) expect(JSON.stringify(all)).not.toContain(token);
    expect((await run("mcp", "logout", "docs")).stdout).toBe("Removed OAuth credentials for 'docs'.\n");
    expect((await run("mcp", "logout", "docs")).stdout).toBe("No OAuth credentials stored for 'docs'.\n");
    expect(readFileSync(join(home, ".credentials.json"), "utf8")).toBe("{}");
    expect((await echo()).code).not.toBe(0);
  });

  it("takes the URL that the browser came back with from a pipe", async () => {
    const paste = async (url: string, child: ReturnType<typeof command.start>) => {
      const { headers } = await fetch(url, { redirect: "manual" });
      child.stdin.write("nonsense\n");
      child.stdin.write(`${headers.get("location")}\n`);
    };
    const { code, stderr } = await logIn(paste);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("not taken: that is not a URL") });
    expect(await auth()).toMatchObject({ auth_status: "o_auth" });
  });

  it("takes it from a terminal, on which it is not shown", async () => {
    const terminal = new Terminal(process.execPath, [codex, "mcp", "login", "docs", "--no-browser"], {
      env: { CODEX_HOME: home },
      size: { cols: 1000, rows: 24 },
    });
    onTestFinished(() => terminal.kill());
    await terminal.shown("paste here");
    const [url = ""] = /^http\S*/m.exec(terminal.output) ?? [];
    const { headers } = await fetch(url, { redirect: "manual" });
    terminal.type(`${headers.get("location")}\r`);
    await terminal.shown("Successfully logged in");
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(terminal.output).not.toContain("code=code-");
  });

  it("says who refused, and keeps nothing", async () => {
    const refuse = async (url: string) => {
      const { searchParams } = new URL(url);
      await fetch(`${searchParams.get("redirect_uri")}?state=${searchParams.get("state")}&error=access_denied`);
    };
    const { code, stderr } = await logIn(refuse);
    expect(code).toBe(1);
    expect(stderr).toContain("not logged in to `docs`: the authorization server refused: access_denied");
    expect(await auth()).toMatchObject({ auth_status: "not_logged_in" });
  });

  it.each([
    ["a server that is not configured", ["mcp", "login", "nope"], 'there is no MCP server "nope"'],
    ["a command", ["mcp", "login", "local"], "MCP server `local` is a command"],
    ["a server without OAuth", ["mcp", "login", "plain"], "the server offers no login with OAuth"],
  ])("refuses %s", async (_, args, expected) => {
    const { url: plain } = await listenHttp((_, response) => response.writeHead(404).end());
    configure(`[mcp_servers.local]\ncommand = "true"\n[mcp_servers.plain]\nurl = "${plain}"\n`);
    expect(await run(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining(expected) });
  });

  it("refuses to keep tokens where a keyring is wanted", async () => {
    configure("", 'mcp_oauth_credentials_store = "keyring"\n');
    expect(await run("mcp", "login", "docs")).toMatchObject({ code: 1, stderr: expect.stringContaining("keyring") });
  });
});

it("`codex mcp add` writes what a login needs as Codex does", async () => {
  const args = ["--oauth-client-id", "abc", "--oauth-client-secret", "s", "--oauth-resource", "https://example.com/r"];
  expect(await run("mcp", "add", "docs", "--url", server.url, ...args)).toMatchObject({ code: 0 });
  expect(readFileSync(join(home, "config.toml"), "utf8")).toBe(`[mcp_servers.docs]
url = "${server.url}"
oauth_resource = "https://example.com/r"

[mcp_servers.docs.oauth]
client_id = "abc"
client_secret = "s"
`);
  expect((await run("mcp", "add", "d", "--oauth-client-id", "a", "--", "x")).code).toBe(2);
});
