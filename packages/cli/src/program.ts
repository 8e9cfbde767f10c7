import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { EXIT } from "./exit-codes.js";
import { reportError } from "./report-error.js";
import { runToEnd } from "./run-to-end.js";
import { VERSION } from "./version.js";

/** Parses the arguments and runs one command. Sets the exit code; never rejects. */
export const runProgram = (argv: readonly string[]): Promise<void> =>
  runToEnd(() => createProgram().parseAsync([...argv]), report);

function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version were asked for and are on stdout; everything else is already on stderr.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  return reportError(error);
}

/** The tree of commands. Each loads its code only when it runs. */
export function createProgram(): Command {
  const program = new Command("codex")
    .description("Run an agent's commands here or elsewhere: lossless output, truthful outcomes, nothing unapproved.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .showHelpAfterError("(add --help for help)")
    .exitOverride()
    .enablePositionalOptions();

  program
    .command("executor")
    .description("serve the tools of this host to an orchestrator")
    .addOption(
      listenOption("where to be reached: stdio://, ws://HOST:PORT (port 0: a free one) or unix:///PATH", "stdio://"),
    )
    .option("--token-file <path>", "websocket: only peers with the bearer token in this file may connect")
    .option(...TLS_OPTIONS.cert)
    .option(...TLS_OPTIONS.key)
    .option("--allow-insecure-listen", "websocket: listen beyond loopback without a token", false)
    .option("--max-sessions <n>", "sessions at once", parseCount, 64)
    .option(
      "--exec-server <url|command>",
      "run programs on this exec-server: ws://HOST:PORT, or a command that speaks on stdio",
    )
    .addOption(
      new Option("--max-sandbox <mode>", "the most that any command may do, whatever an orchestrator sends").choices([
        "read-only",
        "workspace-write",
        "danger-full-access",
      ]),
    )
    .option(
      "--allowed-root <dir>",
      "commands start in this directory only and, with --max-sandbox workspace-write, write there and in temporary directories only; repeatable",
      collect,
      [],
    )
    .addOption(
      new Option(
        "--max-network <on|off>",
        "whether any command may use the network (off below danger-full-access)",
      ).choices(["on", "off"]),
    )
    .option(
      "--resume-grace <seconds>",
      "websocket: how long everything lives on after a connection was lost; 0: not at all",
      parseGrace,
      30,
    )
    .option("--deterministic-ids", "session ids count up from 1000", false)
    .option(...LOG_OPTIONS.level)
    .option(...LOG_OPTIONS.file)
    .option(...LOG_OPTIONS.format)
    .option(...LOG_OPTIONS.metrics)
    .addHelpText(
      "after",
      `
Protocol messages are the only thing on stdout; logs go to stderr. With ws:// the bound address is printed to stdout.
Exit codes: 0 after shutdown or the end of the channel, 1 on an error, 2 on bad arguments.`,
    )
    .action(async (options) => (await import("./commands/executor.js")).runExecutor(options));

  program
    .command("exec-server")
    .description("serve processes, files and HTTP of this host to Codex clients (the exec-server protocol)")
    .addOption(
      listenOption("where to be reached: ws://IP:PORT (port 0: a free one), unix:///PATH or stdio", "ws://127.0.0.1:0"),
    )
    .option(
      "--concurrent-requests <count>",
      "accepted for compatibility: requests never wait for each other",
      parseCount,
      1,
    )
    .addOption(
      new Option("--ws-auth <mode>", "how websocket clients show who they are").choices([
        "capability-token",
        "signed-bearer-token",
      ]),
    )
    .option("--ws-token-file <path>", "capability-token: file with the token")
    .option("--ws-token-sha256 <hex>", "capability-token: SHA-256 of the token")
    .option("--ws-shared-secret-file <path>", "signed-bearer-token: file with the key of HS256, at least 32 bytes")
    .option("--ws-issuer <issuer>", "signed-bearer-token: `iss` the tokens must have")
    .option("--ws-audience <audience>", "signed-bearer-token: `aud` the tokens must have")
    .option("--ws-max-clock-skew-seconds <seconds>", "signed-bearer-token: tolerance, 30 unless given", parseWhole)
    .option(...TLS_OPTIONS.cert)
    .option(...TLS_OPTIONS.key)
    .option("--allow-insecure-listen", "listen beyond loopback without --ws-auth", false)
    .option(...LOG_OPTIONS.level)
    .option(...LOG_OPTIONS.file)
    .option(...LOG_OPTIONS.format)
    .option(...LOG_OPTIONS.metrics)
    .addHelpText(
      "after",
      `
With ws:// the bound address is the one line on stdout; on stdio only protocol messages are.
Exit codes: 0 after SIGTERM, SIGINT or the end of stdin in stdio mode, 1 on an error, 2 on bad arguments.

Example: export CODEX_EXEC_SERVER_URL=ws://127.0.0.1:7000 for a Codex client after
  codex exec-server --listen ws://127.0.0.1:7000`,
    )
    .action(async (options) => (await import("./commands/exec-server.js")).runExecServer(options));

  program
    .command("run")
    .description("run a program through an executor: streams, exit status, Ctrl-C and terminal are passed through")
    .argument("<program>", "program")
    .argument("[args...]", "its arguments, after --")
    .option("-t, --tty", "give it a terminal (default when stdin and stdout are one)")
    .option("-T, --no-tty", "give it pipes")
    .addOption(executorOption())
    .option(...CREDENTIAL_OPTIONS.token)
    .option(...CREDENTIAL_OPTIONS.ca)
    .option("-C, --cwd <dir>", "directory on the executor's host")
    .option("-e, --env <name=value>", "variable, repeatable", collect, [])
    .addOption(sandboxOption("hold it in a sandbox of this mode, with the rest as configured (default: none)"))
    .option("--timeout <seconds>", "end it after this time", parseSeconds)
    .option("--record <file>", "record what it writes as an asciicast, the format of asciinema; the file must be new")
    .option("--record-input", "record what is typed as well, passwords too", false)
    .passThroughOptions()
    .addHelpText(
      "after",
      `
Exit codes: that of the program; 128+n when signal n ended it, and for SIGINT codex run ends by SIGINT itself, so that
loops of a shell stop; 124 when --timeout ended it; 125 when the executor cannot be reached, refuses, failed or was
lost, or the output could not be written; 126 when the program could not be started or is not allowed; 127 when it was
not found; 2 on bad arguments.
When nobody reads what it writes any more, as in codex run … | head, it is sent a hang-up.
A websocket that is lost is connected again: the program runs on, and nothing of its output is lost or repeated. What is
typed meanwhile is delivered then; Ctrl-C twice, or ~. at the beginning of a line, gives up.

Examples:
  codex run -- make test
  codex run --tty -- vim notes.txt
  codex run --record demo.cast -- make
  codex run --executor ws://127.0.0.1:7000 -- uname -a
  codex run --executor "ssh build codex executor" -- make`,
    )
    .action(async (name, args, options) => (await import("./commands/run.js")).runRun([name, ...args], options));

  const sandbox = program
    .command("sandbox")
    .description("run a program in a sandbox of this host, by hand, or show what the sandbox is")
    .argument("[command...]", "program and arguments, after --")
    .option("-C, --cd <dir>", "directory of the program, and the workspace")
    .option(
      "--writable-root <dir>",
      "with workspace-write: another directory that may be written; repeatable",
      collect,
      [],
    )
    .option("--network", "with workspace-write: with the network", false)
    .option("--deny <path|pattern>", "what cannot be read, beside deny_read; repeatable", collect, [])
    .option("--profile-json <file>", "the whole sandbox, as an executor is sent it")
    .option("-t, --tty", "give it a terminal (default when stdin and stdout are one)")
    .option("-T, --no-tty", "give it pipes")
    .option("--explain", "print every path, what it may be used for and why, and the command line; run nothing", false)
    .option("--check", "tell whether this host has a sandbox, or why not and what would mend it", false)
    .passThroughOptions();
  addConfigOptions(sandbox)
    .addHelpText(
      "after",
      `
The mode is that of --sandbox, else of the configuration: without any, workspace-write in a trusted project and read-only elsewhere.
What the sandbox refused is said on stderr.
Exit codes: that of the program; 128+n when signal n ended it; 125 when it was lost; 126 when it could not be started, or not in this
sandbox; 127 when it was not found. --check: 0 or 1.

Examples:
  codex sandbox -- make test
  codex sandbox --sandbox workspace-write --deny '**/*.env' --explain -- make test
  codex sandbox --check`,
    )
    .action(async (argv, options) => (await import("./commands/sandbox.js")).runSandbox(argv, options));

  const tools = program.command("tools").description("look at and call the tools of an executor");
  tools
    .command("list")
    .description("list the tools")
    .addOption(executorOption())
    .option(...CREDENTIAL_OPTIONS.token)
    .option(...CREDENTIAL_OPTIONS.ca)
    .option("--json", "print JSON", false)
    .action(async (options) => (await import("./commands/tools-list.js")).runToolsList(options));
  tools
    .command("spec")
    .description("print the tools as a model is shown them")
    .argument("[name]", "one tool")
    .addOption(executorOption())
    .option(...CREDENTIAL_OPTIONS.token)
    .option(...CREDENTIAL_OPTIONS.ca)
    .action(async (name, options) => (await import("./commands/tools-list.js")).runToolsSpec(name, options));
  const toolsCall = tools
    .command("call")
    .description("call a tool with a model's arguments")
    .argument("<name>", "tool")
    .argument("[json]", "arguments as JSON, - for stdin", "{}")
    .addOption(executorOption())
    .option(...CREDENTIAL_OPTIONS.token)
    .option(...CREDENTIAL_OPTIONS.ca)
    .addOption(
      rulesOption(
        "file of rules, repeatable (default: those of system, user and trusted project); rules are saved to the user's",
      ),
    )
    .option("--json", "print the structured result", false);
  addConfigOptions(toolsCall)
    .addHelpText("after", "\nExit codes: 0 when the tool succeeded (whatever the command's exit code), 1 otherwise.")
    .action(async (name, json, options) => (await import("./commands/tools.js")).runToolsCall(name, json, options));

  const execPolicy = program
    .command("execpolicy")
    .description("look at what rules and policy say about a command")
    .enablePositionalOptions();
  execPolicy
    .command("check")
    .description("print the rules that match a command, and their decision, as JSON")
    .argument("<command...>", "the words of one command")
    .addOption(rulesOption("file of rules, repeatable").makeOptionMandatory())
    .option("--pretty", "print it on several lines", false)
    .option("--resolve-host-executables", "a path to a program also falls under the rules for its name", false)
    .passThroughOptions()
    .addHelpText("after", "\nExit codes: 0 whatever the decision, 1 when a file cannot be read or does not load.")
    .action(async (words, options) => (await import("./commands/execpolicy.js")).runExecPolicyCheck(words, options));
  const explain = execPolicy
    .command("explain")
    .description("print how a command is judged: how it splits, which rules match, whether it is asked about, and why")
    .argument("<command...>", "one word is a script for bash -lc; several are the words of one command")
    .addOption(rulesOption("file of rules, repeatable (default: those of system, user and trusted project)"))
    .option("--json", "print JSON", false);
  addConfigOptions(explain)
    .addHelpText("after", "\nExample:\n  codex execpolicy explain -- 'cd src && git push'")
    .action(async (words, options) => (await import("./commands/execpolicy.js")).runExecPolicyExplain(words, options));

  const config = program.command("config").description("look at the configuration");
  const show = config
    .command("show")
    .description("print every setting, what it is, and where that was said")
    .option("--json", "print JSON", false);
  addConfigOptions(show)
    .addHelpText(
      "after",
      "\nIn this order, each over the ones before: defaults, /etc/codex/config.toml, $CODEX_HOME/config.toml, --profile,\n.codex/config.toml of a trusted project, flags; all within /etc/codex/requirements.toml. See docs/configuration.md.",
    )
    .action(async (options) => (await import("./commands/config.js")).runConfigShow(options));

  const environment = program
    .command("env")
    .description("list the variables of this host that commands do not get, by name, and why")
    .option("--json", "print JSON", false);
  addConfigOptions(environment)
    .addHelpText(
      "after",
      "\nRun it where the executor runs, with the executor's environment. Values are never printed.",
    )
    .action(async (options) => (await import("./commands/env.js")).runEnv(options));

  const audit = program.command("audit").description("look at the audit log");
  const verify = audit
    .command("verify")
    .description("check that no record was changed, removed, added or moved")
    .argument("[file]", "the log (default: audit.path of the configuration)")
    .option("--expect <record>", "NUMBER:SHA-256 of a record that was there, as an earlier check printed it")
    .option("--json", "print JSON", false);
  addConfigOptions(verify)
    .addHelpText("after", "\nExit codes: 0 when the chain is intact, 1 when it breaks: the first such place, and why.")
    .action(async (file, options) => (await import("./commands/audit.js")).runAuditVerify(file, options));
  const showAudit = audit
    .command("show")
    .description("print the records, the oldest first")
    .argument("[file]", "the log (default: audit.path of the configuration)")
    .option("--json", "print the records as they are", false);
  addConfigOptions(showAudit).action(async (file, options) =>
    (await import("./commands/audit.js")).runAuditShow(file, options),
  );

  const sessions = program
    .command("sessions")
    .description("list, read or end the sessions of a running executor")
    // `--executor` may stand behind `record` as well.
    .enablePositionalOptions(false)
    .requiredOption("--executor <url>", "ws://HOST:PORT of the executor")
    .option(...CREDENTIAL_OPTIONS.token)
    .option(...CREDENTIAL_OPTIONS.ca)
    .option("--kill <id>", "end a session", parseCount)
    .option("--read <id>", "print the output of a session", parseCount)
    .option("--json", "print JSON", false)
    .action(async (options) => (await import("./commands/sessions.js")).runSessions(options));
  sessions
    .command("record")
    .description("write what a session has shown as an asciicast, the format of asciinema")
    .argument("<id>", "session", parseCount)
    .option("-o, --output <file>", "where to; the file must be new (default: stdout)")
    .option("--follow", "go on until the session has ended, or Ctrl-C", false)
    .configureHelp({ showGlobalOptions: true })
    .addHelpText("after", "\nExample:\n  codex sessions record 1000 --executor ws://127.0.0.1:7000 -o demo.cast")
    .action(async (id, _options, command) =>
      (await import("./commands/record-session.js")).runRecordSession(id, command.optsWithGlobals()),
    );

  program
    .command("doctor")
    .description("check what commands need of this host, and say how to mend what is wrong")
    .option("--json", "print JSON", false)
    .addHelpText("after", "\nExit codes: 0 when there is no problem (warnings may be), 1 otherwise.")
    .action(async (options) => (await import("./commands/doctor.js")).runDoctor(options));

  program
    .command("completion")
    .description("print a completion script")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText(
      "after",
      '\nbash: eval "$(codex completion bash)"   zsh: eval "$(codex completion zsh)"\nfish: codex completion fish | source',
    )
    .action(async (shell) => (await import("./commands/completion.js")).runCompletion(shell, createProgram()));

  return program;
}

const listenOption = (description: string, value: string) => new Option("--listen <url>", description).default(value);

/** Of the commands that serve. What is wrong with them is found when they are used. */
const LOG_OPTIONS = {
  level: [
    "--log-level <level>",
    "off, error, warn, info or debug (default: $CODEX_LOG, else warn; info with --log-file)",
  ],
  file: ["--log-file <path>", "append logs to this file instead of stderr; at 64 MiB it becomes <path>.1"],
  format: ["--log-format <format>", "text or json (default: text on stderr, json in a file)"],
  metrics: ["--metrics", "websocket: serve GET /metrics in the form of Prometheus, to who may connect"],
} as const;

/** Of the commands that serve a websocket. */
const TLS_OPTIONS = {
  cert: ["--tls-cert <path>", "websocket: speak TLS with this certificate (PEM, with its chain)"],
  key: ["--tls-key <path>", "websocket: key of the certificate (PEM)"],
} as const;

/** Of the commands that connect to an executor. */
const CREDENTIAL_OPTIONS = {
  token: ["--token-file <path>", "bearer token for the executor (default: $CODEX_EXECUTOR_TOKEN)"],
  ca: ["--ca-file <path>", "wss://: trust certificates of these issuers as well (PEM)"],
} as const;

const executorOption = () =>
  new Option(
    "--executor <url|command>",
    "ws://HOST:PORT, wss://HOST:PORT, unix:///PATH, or a command that speaks the protocol on its stdin and stdout (default: an executor of its own on this host)",
  );

const APPROVAL_POLICIES = ["never", "on-request", "on-failure", "untrusted"];

/** What a command that decides about commands takes; without them, the configuration counts. */
const addConfigOptions = (command: Command) =>
  command
    .addOption(
      new Option(
        "-c, --config <key=value>",
        "a setting for this once, repeatable; the value is TOML, else a string",
      ).argParser(collectRules),
    )
    .option("-p, --profile <name>", "settings of $CODEX_HOME/<name>.config.toml over those of config.toml")
    .addOption(
      new Option("-a, --approval-policy <policy>", "when to ask before a command runs").choices(APPROVAL_POLICIES),
    )
    .addOption(new Option("--ask-for-approval <policy>").choices(APPROVAL_POLICIES).hideHelp())
    .addOption(sandboxOption("what a command may do"));

const sandboxOption = (description: string) =>
  new Option("-s, --sandbox <mode>", description).choices(["read-only", "workspace-write", "danger-full-access"]);

/** The default is made by the collector: a list in the option itself would be shared by all parses, and satisfy it. */
const rulesOption = (description: string) => new Option("-r, --rules <file>", description).argParser(collectRules);

const collectRules = (value: string, values: string[] = []) => [...values, value];

const collect = (value: string, values: string[]) => [...values, value];

function parseCount(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError(`expected a whole number of at least 1, got ${JSON.stringify(value)}`);
  }
  return number;
}

function parseWhole(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError(`expected a whole number of at least 0, got ${JSON.stringify(value)}`);
  }
  return number;
}

function parseGrace(value: string): number {
  return /^0+(\.0+)?$/.test(value) ? 0 : parseSeconds(value);
}

function parseSeconds(value: string): number {
  const number = Number(value);
  if (!(number > 0) || number > 2_000_000) {
    throw new InvalidArgumentError(`expected seconds between 0 and 2000000, got ${JSON.stringify(value)}`);
  }
  return number;
}
