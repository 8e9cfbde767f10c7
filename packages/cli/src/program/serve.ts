import { type Command, Option } from "commander";
import { addNotes } from "./help.js";
import {
  addBackgroundOptions,
  addLimitOptions,
  addLogOptions,
  addRemoteOptions,
  addServingOptions,
  append,
  listenOption,
  parseCount,
  parseGrace,
  parseSeconds,
  parseWhole,
  sandboxOption,
  usersOption,
} from "./options.js";

/** `codex executor` and `codex exec-server`. */
export function addServing(program: Command): void {
  const executor = program
    .command("executor")
    .description("Serve the tools of this host to an orchestrator")
    .addOption(
      listenOption(
        "Address to listen on: stdio://, ws://HOST:PORT (port 0: a free one), unix:///PATH, or fd:// for a socket of systemd",
        "stdio://",
      ),
    )
    .option("--token-file <path>", "Websocket: only peers with the bearer token in this file may connect")
    .option("--allow-insecure-listen", "Websocket: listen beyond loopback without a token", false)
    .addOption(usersOption())
    .option("--max-sessions <n>", "Most concurrent sessions", parseCount, 64)
    .option(
      "--exec-server <address>",
      "Run programs on this exec-server: HOST:PORT, ws://, wss://, or a command that speaks on its stdin and stdout",
    )
    .option("--no-files", "Serve tools alone: no files and HTTP to the programs of an orchestrator")
    .addOption(
      sandboxOption("The most that any command may do, whatever an orchestrator sends", "--max-sandbox <mode>"),
    )
    .option(
      "--allowed-root <dir>",
      "Commands start in this directory only and, with --max-sandbox workspace-write, write there and in temporary directories only; repeatable",
      append,
      [],
    )
    .addOption(
      new Option(
        "--max-network <on|off>",
        "Whether any command may use the network; off below danger-full-access",
      ).choices(["on", "off"]),
    )
    .option(
      "--resume-grace <seconds>",
      "How long sessions are kept after a connection was lost; 0: not at all (default: 30, with --attach 600)",
      parseGrace,
    )
    .option("--deterministic-ids", "Session ids count up from 1000", false);
  addNotes(addRemoteOptions(addLimitOptions(addServingOptions(addBackgroundOptions(executor)))), {
    text: [
      "Protocol messages are the only thing on stdout; logs go to stderr. With ws:// the bound address is printed to stdout.",
    ],
    exitCodes: [
      ["0", "after shutdown or the end of the channel"],
      ["1", "an error"],
      ["2", "bad arguments"],
    ],
    examples: [
      "codex executor --listen ws://127.0.0.1:7000",
      "codex run --executor 127.0.0.1:7000 -- uname -a",
      "codex executor --attach --status    # of the server in the background; --stop ends it",
    ],
  }).action(async (options) => {
    if (options.remote !== undefined) await (await import("../commands/remote.js")).runRemoteExecutor(options);
    else if (options.attach) await (await import("@codex/servers/attach")).runAttach("executor", options);
    else await (await import("../commands/executor.js")).runExecutor(options);
  });

  const execServer = addRemoteOptions(addExecServer(program)).action(async (options) => {
    await (await import("../commands/launch-options.js")).checkLaunchSettings(options);
    if (options.remote !== undefined) await (await import("../commands/remote.js")).runRemoteExecServer(options);
    else if (options.attach) await (await import("@codex/servers/attach")).runAttach("exec-server", options);
    else await (await import("@codex/servers/exec-server")).runExecServer(options);
  });

  const forward = execServer
    .enablePositionalOptions()
    .command("forward")
    .description("Register with a registry, and forward each stream to an exec-server on a websocket of its own")
    .requiredOption("--connect <url>", "Where streams go: ws://HOST:PORT or wss://HOST:PORT");
  addLaunchOptions(addLogOptions(addRemoteOptions(forward))).action(async (options) => {
    if (options.remote === undefined) forward.error("error: forward needs --remote <url>");
    await (await import("../commands/launch-options.js")).checkLaunchSettings(options);
    await (await import("../commands/remote.js")).runForward(options);
  });
}

/** `codex exec-server` without a registry, and without an action. */
export function addExecServer(program: Command): Command {
  const execServer = program
    .command("exec-server")
    .description("Serve processes, files and HTTP of this host to Codex clients (the exec-server protocol)")
    .addOption(
      listenOption(
        "Address to listen on: ws://IP:PORT (port 0: a free one), unix:///PATH, stdio, or fd:// for a socket of systemd",
        "ws://127.0.0.1:0",
      ),
    )
    .addOption(
      new Option("--concurrent-requests <count>", "Accepted for compatibility: requests never wait for each other")
        .argParser(parseCount)
        .default(1),
    )
    .addOption(
      new Option("--ws-auth <mode>", "How websocket clients authenticate").choices([
        "capability-token",
        "signed-bearer-token",
      ]),
    )
    .option("--ws-token-file <path>", "capability-token: file with the token")
    .option("--ws-token-sha256 <hex>", "capability-token: SHA-256 of the token")
    .option("--ws-shared-secret-file <path>", "signed-bearer-token: file with the key of HS256, at least 32 bytes")
    .option("--ws-issuer <issuer>", "signed-bearer-token: required `iss` of the tokens")
    .option("--ws-audience <audience>", "signed-bearer-token: required `aud` of the tokens")
    .option("--ws-max-clock-skew-seconds <seconds>", "signed-bearer-token: tolerance, 30 unless given", parseWhole)
    .addOption(usersOption())
    .option("--allow-insecure-listen", "Listen beyond loopback without --ws-auth", false)
    .option(
      "--resume-grace <seconds>",
      "How long a session with processes is kept after a connection was lost (default: 80, with --attach 600)",
      parseSeconds,
    );
  return addNotes(addLaunchOptions(addLimitOptions(addServingOptions(addBackgroundOptions(execServer)))), {
    text: ["With ws:// the bound address is the one line on stdout; on stdio only protocol messages are."],
    exitCodes: [
      ["0", "after SIGTERM, SIGINT or the end of stdin in stdio mode"],
      ["1", "an error"],
      ["2", "bad arguments"],
    ],
    examples: [
      "codex exec-server --listen ws://127.0.0.1:7000",
      "export CODEX_EXEC_SERVER_URL=ws://127.0.0.1:7000    # for a Codex client",
    ],
  });
}

/** What launchers of Codex give. */
const addLaunchOptions = (command: Command): Command =>
  command
    .option("--exit-on-stdin-close", "End, with what runs, when stdin does; over stdio always")
    .addOption(
      new Option("-c, --config <key=value>", "A setting, repeatable; checked, and without an effect").argParser(append),
    )
    .option("--enable <feature>", "Same as -c features.<feature>=true; repeatable", append)
    .option("--disable <feature>", "Same as -c features.<feature>=false; repeatable", append)
    .option("--strict-config", "Unknown keys of the configuration are an error")
    .addOption(
      new Option(
        "--linux-sandbox-pid-namespace <mode>",
        "Accepted for compatibility: sandboxes have processes of their own",
      ).choices(["isolate", "inherit"]),
    )
    .option(
      "--proxy-private-ips-via-upstream",
      "Commands with a managed network reach private addresses through the proxy of this host, too",
    );
