import { type Command, Option } from "commander";
import { DependentOption } from "./check-options.js";
import { addNotes } from "./help.js";
import {
  addConfigOptions,
  addEnvironmentOption,
  addExecutorOptions,
  addTerminalOptions,
  append,
  parseSeconds,
  permissionProfileOption,
  sandboxOption,
} from "./options.js";

/** `codex run` and `codex sandbox`. */
export function addRunning(program: Command): void {
  const run = program
    .command("run")
    .description("Run a program through an executor: streams, exit status, Ctrl-C and terminal are passed through")
    .argument("<program>", "Program; what follows it are its own arguments")
    .argument("[args...]", "Its arguments");
  addExecutorOptions(addTerminalOptions(run))
    .option("-C, --cwd <dir>", "Directory on the executor's host")
    .option("-e, --env <name=value>", "Variable, repeatable", append, [])
    .addOption(
      sandboxOption("Run it in a sandbox of this mode, with the other settings as configured").default(
        undefined,
        "none",
      ),
    )
    .addOption(permissionProfileOption())
    .option("--detach", "Leave it running there, and print the id for codex sessions attach")
    .option("--timeout <seconds>", "End the program after this time", parseSeconds)
    .option("--record <file>", "Record its output as an asciicast, the format of asciinema; the file must not exist")
    .option("--record-input", "Also record what is typed, including passwords", false)
    .passThroughOptions();
  addNotes(run, {
    text: [
      "Options come before the program; -- may separate them.",
      "A program whose output nobody reads any more, as in codex run … | head, is sent a hang-up.",
      "Without --executor and --environment it runs in the default environment, which is this host unless environments.toml or CODEX_EXEC_SERVER_URL names another; where that cannot be reached nothing is run.",
      "A lost websocket is reconnected: the program keeps running, and no output is repeated, and none is lost except what an exec-server of Codex discards meanwhile, beyond 1 MiB: its range is reported. What is typed in the meantime is delivered afterwards; Ctrl-C twice, or ~. at the beginning of a line, gives up.",
      "On a terminal ~. at the beginning of a line hangs the program up, and leaves it if it does not end by that; ~^Z suspends this command, ~? lists the keys, and ~~ is one ~.",
    ],
    exitCodes: [
      ["0-255", "exit code of the program"],
      ["2", "bad arguments"],
      ["124", "--timeout ended it"],
      [
        "125",
        "the executor cannot be reached, refuses, failed or was lost, or output could not be written or is missing",
      ],
      ["126", "it could not be started, or is not allowed"],
      ["127", "it was not found"],
      ["128+n", "signal n ended it; after SIGINT codex run ends by SIGINT itself, so that shell loops stop"],
    ],
    examples: [
      "codex run make test",
      "codex run --tty -- vim notes.txt",
      "codex run --record demo.cast -- make",
      "codex run --executor 127.0.0.1:7000 -- uname -a",
      "codex run --executor 127.0.0.1:7000 --detach --tty -- bash    # then: codex sessions attach ID --executor …",
      'codex run --executor "ssh build codex executor" -- make',
      "codex run --environment build -- make",
    ],
  }).action(async (name, args, options) => (await import("../commands/run.js")).runRun([name, ...args], options));

  const sandbox = program
    .command("sandbox")
    .description("Run a program in a sandbox of this host, or describe that sandbox")
    .argument("[command...]", "Program and arguments")
    .option("-C, --cd <dir>", "Directory of the program, and the workspace")
    .option(
      "--writable-root <dir>",
      "With workspace-write: another directory that may be written; repeatable",
      append,
      [],
    )
    .option("--network", "With workspace-write: allow the network", false)
    .option("--deny <path|pattern>", "Paths that cannot be read, in addition to deny_read; repeatable", append, [])
    .option("--profile-json <file>", "The complete sandbox, in the form that is sent to an executor")
    .addOption(
      new Option(
        "--sandbox-state-json <json>",
        "The complete sandbox and its directory, as Codex tells MCP servers (codex/sandbox-state-meta)",
      ).conflicts(["cd", "profile", "profileJson", "includeManagedConfig"]),
    )
    .addOption(
      new DependentOption(
        "--sandbox-state-readable-root <dir>",
        "--sandbox-state-json",
        "another directory that may be read; repeatable",
      ).argParser(append),
    )
    .addOption(new DependentOption("--sandbox-state-disable-network", "--sandbox-state-json", "no network"))
    .addOption(
      new DependentOption(
        "--include-managed-config",
        "--permission-profile",
        "requirements apply to it, as they do without this option",
      ),
    )
    .option("--enable <feature>", "Same as -c features.<feature>=true; repeatable", append)
    .option("--disable <feature>", "Same as -c features.<feature>=false; repeatable", append);
  addTerminalOptions(addEnvironmentOption(sandbox))
    .option("--explain", "Print the access to each path and its reason, and the command line; run nothing", false)
    .option("--check", "Say whether this host has a sandbox, or why not and how to fix that", false)
    .passThroughOptions();
  addNotes(addConfigOptions(sandbox), {
    text: [
      "Options come before the program; -- may separate them.",
      "The mode is that of --sandbox, else of the configuration: by default workspace-write in a trusted project and read-only elsewhere. What the sandbox refused is reported on stderr.",
    ],
    exitCodes: [
      ["0-255", "exit code of the program"],
      ["2", "bad arguments"],
      ["125", "it was lost"],
      ["126", "it could not be started, or not in this sandbox"],
      ["127", "it was not found"],
      ["128+n", "signal n ended it"],
      ["0, 1", "--check: there is a sandbox, there is none"],
    ],
    examples: [
      "codex sandbox make test",
      "codex sandbox --sandbox workspace-write --deny '**/*.env' --explain -- make test",
      "codex sandbox --check",
    ],
  }).action(async (argv, options) => (await import("../commands/sandbox.js")).runSandbox(argv, options));
}
