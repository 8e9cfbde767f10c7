import { type Command, Option } from "commander";
import { DependentOption } from "./check-options.js";
import { addNotes } from "./help.js";
import {
  addConfigOptions,
  addExecutorOptions,
  addLogOptions,
  append,
  drainOption,
  listenOption,
  parseHold,
  rulesOption,
  viewPortOption,
} from "./options.js";

/** `codex mcp-server`. */
export function addMcpServer(program: Command): void {
  const server = addExecutorOptions(
    program.command("mcp-server").description("Offer the tools to MCP hosts, on stdin and stdout or over HTTP"),
  )
    .addOption(
      listenOption(
        "Address to serve: stdio://, http://HOST:PORT, https://HOST:PORT (port 0: a free one) or fd://",
        "stdio://",
      ),
    )
    .addOption(
      withListen(
        "--listen-token-file <path>",
        "only HTTP clients with the bearer token in this file may connect; repeatable, each file is one client",
      ).argParser(append),
    )
    .addOption(
      withListen("--allowed-host <name>", "a name by which HTTP clients reach this host, repeatable").argParser(append),
    )
    .addOption(withListen("--tls-cert <path>", "certificate for https: (PEM, with its chain)"))
    .addOption(withListen("--tls-key <path>", "key of the certificate (PEM)"))
    .addOption(withListen("--metrics", "serve GET /metrics in Prometheus format to every client that may connect"))
    .addOption(drainOption())
    .option("-C, --cd <dir>", "Directory of the commands, absolute on their host")
    .addOption(
      new Option(
        "--max-hold <seconds>",
        "Longest that one call is held, 0.25 to 300; its program continues as a session",
      )
        .argParser(parseHold)
        .default(50),
    )
    .addOption(
      new Option("--on-cancel <what>", "What happens to a program whose call was cancelled")
        .choices(["keep", "interrupt", "kill"])
        .default("keep"),
    )
    .option("--view", "Serve a page that shows what happens and answers approvals; its links go to stderr")
    .addOption(viewPortOption())
    .option("--structured", "Give structuredContent beside the text", false)
    .option(
      "--no-file-tools",
      "Offer no tools for files; by default patches and pictures, of another host also lines and listings",
    )
    .addOption(
      new Option("--print-config <host>", "Print the entry for a host and exit").choices([
        "claude",
        "codex",
        "vscode",
        "cursor",
      ]),
    )
    .addOption(rulesOption("File of rules, repeatable (default: those of system, user and trusted project)"));
  addNotes(addConfigOptions(addLogOptions(server)), {
    text: [
      "Nothing is connected before a host lists or calls the tools. Approvals are asked of the host's user; a host that cannot ask is told the rule that would allow the command.",
      "Over HTTP the bound address, with the path /mcp, is the one line on stdout. Beyond loopback tokens are required. Clients with different tokens do not see each other's sessions.",
    ],
    exitCodes: [
      ["0", "stdin has ended, or a signal while it serves"],
      ["1", "an error"],
      ["2", "bad arguments"],
    ],
    examples: ["codex mcp-server --executor wss://build-1.example", "codex mcp-server --print-config claude"],
  }).action(async (options) => (await import("../commands/mcp-server.js")).runMcpServer(options));
}

/** An option of the HTTP listener. */
const withListen = (flags: string, description: string) => new DependentOption(flags, "--listen", description);
