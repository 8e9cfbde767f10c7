import { type Command, Option } from "commander";
import { DependentOption } from "./check-options.js";
import { addNotes } from "./help.js";
import { append } from "./options.js";

/** `codex mcp`. */
export function addMcp(program: Command): void {
  const mcp = program
    .command("mcp")
    .description("Manage the MCP servers whose tools a model gets")
    .enablePositionalOptions();
  addNotes(mcp, {
    text: ["They are in [mcp_servers] of config.toml, as for Codex. Values of variables and headers are never shown."],
    examples: ["codex mcp add docs -- docs-server --stdio", "codex mcp add web --url https://example.com/mcp"],
  });
  const list = mcp.command("list").description("List the servers").option("--json", "Print JSON", false);
  addSettings(list).action(async (options) => (await import("../commands/mcp.js")).runMcpList(options));
  const get = mcp
    .command("get")
    .description("Show a server")
    .argument("<name>", "Its name")
    .option("--json", "Print JSON", false);
  addSettings(get).action(async (name, options) => (await import("../commands/mcp.js")).runMcpGet(name, options));
  const add = mcp
    .command("add")
    .description("Add a server, or replace one of that name")
    .argument("<name>", "Its name")
    .argument("[command...]", "After --: the command that starts it")
    .addOption(new Option("--env <key=value>", "Variable of the command, repeatable").argParser(append))
    .option("--url <url>", "Address of a server over Streamable HTTP")
    .addOption(new DependentOption("--bearer-token-env-var <variable>", "--url", "the variable with its token"))
    .addOption(new DependentOption("--oauth-client-id <id>", "--url", "the client that was registered for logins"))
    .addOption(new DependentOption("--oauth-client-secret <secret>", "--oauth-client-id", "its secret"))
    .addOption(new DependentOption("--oauth-resource <url>", "--url", "the resource that a login is for"));
  addSettings(add).action(async (name, words, options) =>
    (await import("../commands/mcp.js")).runMcpAdd(name, words, options),
  );
  const remove = mcp.command("remove").description("Remove a server").argument("<name>", "Its name");
  addSettings(remove).action(async (name, options) => (await import("../commands/mcp.js")).runMcpRemove(name, options));
  const login = mcp
    .command("login")
    .description("Log in to a server that wants OAuth")
    .argument("<name>", "Its name")
    .option("--scopes <scopes>", "Scopes to ask for, separated by commas; default those that the server names")
    .option("--no-browser", "Only print the URL to open; the URL that the browser comes back with may be pasted");
  addSettings(login).action(async (name, options) =>
    (await import("../commands/mcp-login.js")).runMcpLogin(name, options),
  );
  const logout = mcp.command("logout").description("Forget the login to a server").argument("<name>", "Its name");
  addSettings(logout).action(async (name, options) =>
    (await import("../commands/mcp-login.js")).runMcpLogout(name, options),
  );
}

const addSettings = (command: Command): Command =>
  command
    .addOption(new Option("-c, --config <key=value>", "Override a setting, repeatable").argParser(append))
    .option("--enable <feature>", "Same as -c features.<feature>=true; repeatable", append)
    .option("--disable <feature>", "Same as -c features.<feature>=false; repeatable", append);
