import { type Command, InvalidArgumentError, Option } from "commander";
import { DependentOption } from "./check-options.js";

const SANDBOX_MODES = ["read-only", "workspace-write", "danger-full-access"];
const APPROVAL_POLICIES = ["never", "on-request", "on-failure", "untrusted"];

export const listenOption = (description: string, value: string) =>
  new Option("--listen <url>", description).default(value);

/** Options of the commands that serve. Their values are validated when they are used. */
export const addServingOptions = (command: Command) =>
  addLogOptions(
    command
      .option("--tls-cert <path>", "Websocket: speak TLS with this certificate (PEM, with its chain)")
      .option("--tls-key <path>", "Websocket: key of the certificate (PEM)"),
  )
    .addOption(drainOption())
    .option("--metrics", "Websocket: serve GET /metrics in Prometheus format to every client that may connect");

/** How long what runs may go on after a signal to stop. */
export const drainOption = () =>
  new Option(
    "--drain <seconds>",
    "After a signal to stop, start nothing more, and end what runs only after so long (default: at once)",
  ).argParser(parseSeconds);

/** For several people on one server. */
export const usersOption = () =>
  new Option(
    "--users <file>",
    "Websocket, as root: serve several people, each by a process of its own as the account that this file gives to its token (docs/services.md)",
  ).conflicts(["tokenFile", "attach", "remote", "metrics"]);

/** What each session may use. The values are parsed where they are used. */
export const addLimitOptions = (command: Command) =>
  command
    .option("--limit-memory <size>", "Most memory of a command with all that it starts, such as 512M or 2G")
    .option("--limit-cpus <n>", "Most processors of a command with all that it starts, such as 0.5 or 2")
    .option("--limit-processes <n>", "Most processes and threads of a command with all that it starts")
    .option("--limit-open-files <n>", "Most open files of each process")
    .option("--limit-disk <size>", "Most that a command writes to disk, with all that it starts")
    .option("--limit-time <seconds>", "Longest that a command runs");

/** Where logs go, and how much is logged. */
export const addLogOptions = (command: Command) =>
  command
    .option(
      "--log-level <level>",
      "Level of the logs: off, error, warn, info or debug (default: $CODEX_LOG, else warn; info with --log-file)",
    )
    .option("--log-file <path>", "Append logs to this file instead of stderr; at 64 MiB it becomes <path>.1")
    .option("--log-format <format>", "Format of the logs: text or json (default: text on stderr, json in a file)");

/** Options of a server in the background, which `--attach` joins. */
export const addBackgroundOptions = (command: Command) =>
  command
    .option("--attach", "Join this user's background server, or start it, and bridge stdin and stdout to it")
    .addOption(new DependentOption("--status", "--attach", "show the background server instead"))
    .addOption(
      new DependentOption("--stop", "--attach", "end the background server, its sessions and their processes instead"),
    )
    .addOption(
      new DependentOption(
        "--idle-timeout <seconds>",
        "--attach",
        "how long a new background server waits without sessions and connections (default: 600)",
        ["--serve-socket"],
      ).argParser(parseSeconds),
    )
    .addOption(new Option("--serve-socket <path>").hideHelp());

/** Options of a host that dials out to be found. */
export const addRemoteOptions = (command: Command) =>
  command
    // An option with a parser is left to the full command tree, which alone has what a remote host needs.
    .addOption(
      new Option("--remote <url>", "Listen nowhere: register with this registry, and serve those whom it admits")
        .argParser(String)
        .conflicts(["listen", "attach"]),
    )
    .addOption(withRemote("--environment-id <id>", "the id under which this host is found"))
    .addOption(withRemote("--name <name>", "a name for people"))
    .addOption(
      withRemote("--label <name=value>", "label by which it can be chosen, repeatable").argParser(append).default([]),
    )
    .addOption(withRemote("--key-file <path>", "keep the key in this file, so that it stays after a restart"))
    .addOption(
      withRemote("--remote-transport <transport>", "how its harnesses are reached")
        .choices(["noise", "direct"])
        .default("noise"),
    )
    .addOption(withRemote("--registration-bearer-stdin", "the token for the registry is the first line of stdin"))
    .addOption(withRemote("--executor-credential-stdin", "tokens for the registry come as lines of JSON on stdin"))
    .addOption(withRemote("--chatgpt-token-stdin", "a token of ChatGPT is the first line of stdin"))
    .addOption(
      withRemote("--aws-sigv4", "sign requests of --remote-transport direct with the AWS keys of the environment"),
    )
    .addOption(new DependentOption("--aws-region <region>", "--aws-sigv4", "region (default: $AWS_REGION)"))
    .addOption(new DependentOption("--aws-service <service>", "--aws-sigv4", "service (default: execute-api)"))
    .addOption(withRemote("--ca-file <path>", "trust certificates of these issuers as well (PEM)"));

const withRemote = (flags: string, description: string) => new DependentOption(flags, "--remote", description);

export const addEnvironmentOption = (command: Command) =>
  command.option(
    "--environment <id>",
    "Environment to use, as `codex environment list` shows them, or ssh://[USER@]HOST",
  );

/** Options of the commands that connect to an executor. */
export const addExecutorOptions = (command: Command) =>
  addCredentialOptions(
    addEnvironmentOption(command)
      .option("--registry <url>", "Registry that knows the environment, which need not be configured then")
      .addOption(
        new DependentOption("--label <name=value>", "--registry", "a label that the executor must have, repeatable")
          .argParser(append)
          .default([]),
      )
      .option(
        "--executor <address>",
        "HOST:PORT, ws://, wss:// or unix:///PATH of an executor or exec-server, or a command that speaks the protocol on its stdin and stdout (default: the default environment, else an executor of its own on this host)",
      ),
  );

/** Credentials of a connection to an executor. */
export const addCredentialOptions = (command: Command) =>
  command
    .option("--token-file <path>", "Bearer token for the executor (default: $CODEX_EXECUTOR_TOKEN)")
    .option("--ca-file <path>", "wss://: trust certificates of these issuers as well (PEM)")
    .option("--client-cert <path>", "wss://: certificate by which the server knows this client (PEM)")
    .option("--client-key <path>", "wss://: key of that certificate (PEM)");

/** Options that override the configuration, for commands that evaluate policy. */
export const addConfigOptions = (command: Command) =>
  command
    .addOption(
      new Option(
        "-c, --config <key=value>",
        "Override a setting, repeatable; a value that is not TOML is a string",
      ).argParser(append),
    )
    .option("-p, --profile <name>", "Settings of $CODEX_HOME/<name>.config.toml over those of config.toml")
    .addOption(
      new Option("-a, --approval-policy <policy>", "When to ask before a command runs").choices(APPROVAL_POLICIES),
    )
    .addOption(new Option("--ask-for-approval <policy>").choices(APPROVAL_POLICIES).hideHelp())
    .addOption(sandboxOption("What a command may do"))
    .addOption(permissionProfileOption());

export const addTerminalOptions = (command: Command) =>
  command
    .option("-t, --tty", "Use a terminal (default when stdin and stdout are one)")
    .option("-T, --no-tty", "Use pipes");

export const permissionProfileOption = () =>
  new Option(
    "-P, --permission-profile <name>",
    "A profile of [permissions] in config.toml, or :read-only, :workspace, :danger-full-access",
  ).conflicts("sandbox");

export const sandboxOption = (description: string, flags = "-s, --sandbox <mode>") =>
  new Option(flags, description).choices(SANDBOX_MODES);

export const rulesOption = (description: string) => new Option("-r, --rules <file>", description).argParser(append);

/** Creates a new list for each parse: a default in the option would be shared by all of them. */
export const append = (value: string, values: string[] = []) => [...values, value];

export function parseCount(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError(`Expected a whole number of at least 1, got ${JSON.stringify(value)}.`);
  }
  return number;
}

export function parseWhole(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError(`Expected a whole number of at least 0, got ${JSON.stringify(value)}.`);
  }
  return number;
}

/** Port of a listener; 0 is a free one. */
export function parsePort(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  throw new InvalidArgumentError(`Expected a whole number from 0 to 65535, got ${JSON.stringify(value)}.`);
}

/** Port of the page that `--view` serves. */
export const viewPortOption = () =>
  new DependentOption("--view-port <number>", "--view", "port of the page (default: a free one)").argParser(parsePort);

/** Seconds, or 0. */
export function parseGrace(value: string): number {
  if (/^0+(\.0+)?$/.test(value)) return 0;
  return parseNumber(value, (number) => number > 0 && number <= MAX_SECONDS, `seconds, from 0 to ${MAX_SECONDS}`);
}

/** Seconds that one call of an MCP host may be held. */
export const parseHold = (value: string): number =>
  parseNumber(value, (number) => number >= 0.25 && number <= 300, "seconds, from 0.25 to 300");

export const parseSeconds = (value: string): number =>
  parseNumber(
    value,
    (number) => number > 0 && number <= MAX_SECONDS,
    `seconds, more than 0 and at most ${MAX_SECONDS}`,
  );

function parseNumber(value: string, isValid: (number: number) => boolean, expected: string): number {
  const number = value.trim() === "" ? Number.NaN : Number(value);
  if (isValid(number)) return number;
  throw new InvalidArgumentError(`Expected ${expected}, got ${JSON.stringify(value)}.`);
}

/** Timers of Node wait at most 2^31 - 1 milliseconds. */
const MAX_SECONDS = 2_000_000;

/** Options of the commands that run an agent. */
export const addAgentOptions = (command: Command) =>
  addExecutorOptions(command)
    .option("-m, --model <name>", "Model, as the provider names it")
    .addOption(new Option("-c, --config <key=value>", "Override a setting, repeatable").argParser(append))
    .option("-p, --profile <name>", "Settings of $CODEX_HOME/<name>.config.toml over those of config.toml")
    .addOption(sandboxOption("What commands may do (default: as configured)"))
    .addOption(permissionProfileOption())
    .option("-C, --cd <dir>", "Directory to work in, on the executor's host")
    .option("--add-dir <dir>", "Another directory that may be written; repeatable", append)
    .option("-i, --image <file>", "Image to send with the prompt; repeatable", append)
    .option("--ephemeral", "Keep no file of the thread")
    .option("--enable <feature>", "Same as -c features.<feature>=true; repeatable", append)
    .option("--disable <feature>", "Same as -c features.<feature>=false; repeatable", append)
    .option("--strict-config", "Unknown keys of the configuration are an error")
    .option("--dangerously-bypass-hook-trust", "Also run hooks that nobody has trusted")
    .option("--oss", "Use a model of this host")
    .option("--local-provider <name>", "With --oss: ollama or lmstudio")
    .option("--dangerously-bypass-approvals-and-sandbox", "Ask about nothing, and run commands without a sandbox")
    .addOption(new Option("--yolo").hideHelp())
    .option("--view", "Serve a page that shows what happens and answers approvals; its links go to stderr")
    .addOption(viewPortOption());

/** When a person at a terminal is asked. */
export const addAskingOption = (command: Command) =>
  command.addOption(
    new Option("-a, --ask-for-approval <policy>", "When to ask before a command runs").choices(APPROVAL_POLICIES),
  );
