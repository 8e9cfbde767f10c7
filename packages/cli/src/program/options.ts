import { type Command, InvalidArgumentError, Option } from "commander";

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
  ).option("--metrics", "Websocket: serve GET /metrics in Prometheus format to every client that may connect");

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
    .option("--status", "With --attach: show the background server instead")
    .option("--stop", "With --attach: end the background server, its sessions and their processes instead")
    .option(
      "--idle-timeout <seconds>",
      "With --attach: how long a new background server waits without sessions and connections (default: 600)",
      parseSeconds,
    )
    .addOption(new Option("--serve-socket <path>").hideHelp());

/** Options of a host that dials out to be found. */
export const addRemoteOptions = (command: Command) =>
  command
    // An option with a parser is left to the full command tree, which alone has what a remote host needs.
    .option("--remote <url>", "Listen nowhere: register with this registry, and serve those whom it admits", String)
    .option("--environment-id <id>", "With --remote: the id under which this host is found")
    .option("--name <name>", "With --remote: a name for people")
    .option("--label <name=value>", "With --remote: label by which it can be chosen, repeatable", append, [])
    .option("--key-file <path>", "With --remote: keep the key in this file, so that it stays after a restart")
    .addOption(
      new Option("--remote-transport <transport>", "With --remote: how its harnesses are reached")
        .choices(["noise", "direct"])
        .default("noise"),
    )
    .option("--registration-bearer-stdin", "With --remote: the token for the registry is the first line of stdin")
    .option("--executor-credential-stdin", "With --remote: tokens for the registry come as lines of JSON on stdin")
    .option("--chatgpt-token-stdin", "With --remote: a token of ChatGPT is the first line of stdin")
    .option("--aws-sigv4", "With --remote-transport direct: sign requests with the AWS keys of the environment")
    .option("--aws-region <region>", "With --aws-sigv4: region (default: $AWS_REGION)")
    .option("--aws-service <service>", "With --aws-sigv4: service (default: execute-api)")
    .option("--ca-file <path>", "With --remote: trust certificates of these issuers as well (PEM)");

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
      .option("--label <name=value>", "With --registry: a label that the executor must have, repeatable", append, [])
      .option(
        "--executor <address>",
        "HOST:PORT, ws://, wss:// or unix:///PATH of an executor or exec-server, or a command that speaks the protocol on its stdin and stdout (default: the default environment, else an executor of its own on this host)",
      ),
  );

/** Credentials of a connection to an executor. */
export const addCredentialOptions = (command: Command) =>
  command
    .option("--token-file <path>", "Bearer token for the executor (default: $CODEX_EXECUTOR_TOKEN)")
    .option("--ca-file <path>", "wss://: trust certificates of these issuers as well (PEM)");

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
    .addOption(sandboxOption("What a command may do"));

export const addTerminalOptions = (command: Command) =>
  command
    .option("-t, --tty", "Use a terminal (default when stdin and stdout are one)")
    .option("-T, --no-tty", "Use pipes");

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

export const parseGrace = (value: string): number => (/^0+(\.0+)?$/.test(value) ? 0 : parseSeconds(value));

export function parseSeconds(value: string): number {
  const number = Number(value);
  if (!(number > 0) || number > 2_000_000) {
    throw new InvalidArgumentError(`Expected seconds, more than 0 and at most 2000000, got ${JSON.stringify(value)}.`);
  }
  return number;
}

/** Options of the commands that run an agent. */
export const addAgentOptions = (command: Command) =>
  addExecutorOptions(command)
    .option("-m, --model <name>", "Model, as the provider names it")
    .addOption(new Option("-c, --config <key=value>", "Override a setting, repeatable").argParser(append))
    .option("-p, --profile <name>", "Settings of $CODEX_HOME/<name>.config.toml over those of config.toml")
    .addOption(sandboxOption("What commands may do (default: as configured)"))
    .option("-C, --cd <dir>", "Directory to work in, on the executor's host")
    .option("--add-dir <dir>", "Another directory that may be written; repeatable", append)
    .option("-i, --image <file>", "Image to send with the prompt; repeatable", append)
    .option("--ephemeral", "Keep no file of the thread")
    .option("--enable <feature>", "Same as -c features.<feature>=true; repeatable", append)
    .option("--disable <feature>", "Same as -c features.<feature>=false; repeatable", append)
    .option("--strict-config", "Unknown keys of the configuration are an error")
    .option("--oss", "Use a model of this host")
    .option("--local-provider <name>", "With --oss: ollama or lmstudio")
    .option("--dangerously-bypass-approvals-and-sandbox", "Refuse nothing, and run commands without a sandbox")
    .addOption(new Option("--yolo").hideHelp())
    .option("--view", "Serve a page that shows what happens and answers approvals; its links go to stderr")
    .option("--view-port <number>", "With --view: port of the page (default: a free one)", parseWhole);

/** When a person at a terminal is asked. */
export const addAskingOption = (command: Command) =>
  command.addOption(
    new Option("-a, --ask-for-approval <policy>", "When to ask before a command runs").choices(APPROVAL_POLICIES),
  );
