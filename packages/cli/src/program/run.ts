import type { Command } from "commander";
import { addNotes } from "./help.js";
import {
  addConfigOptions,
  addExecutorOptions,
  addTerminalOptions,
  append,
  parseSeconds,
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
      sandboxOption("Hold it in a sandbox of this mode, with the rest as configured").default(undefined, "none"),
    )
    .option("--timeout <seconds>", "End it after this time", parseSeconds)
    .option("--record <file>", "Record what it writes as an asciicast, the format of asciinema; the file must be new")
    .option("--record-input", "Record what is typed as well, passwords too", false)
    .passThroughOptions();
  addNotes(run, {
    text: [
      "Options stand before the program; -- may stand between them.",
      "A program whose output nobody reads any more, as in codex run … | head, is sent a hang-up.",
      "A websocket that is lost is connected again: the program runs on, and nothing of its output is lost or repeated. What is typed meanwhile is delivered then; Ctrl-C twice, or ~. at the beginning of a line, gives up.",
    ],
    exitCodes: [
      ["0-255", "that of the program"],
      ["2", "bad arguments"],
      ["124", "--timeout ended it"],
      ["125", "the executor cannot be reached, refuses, failed or was lost, or the output could not be written"],
      ["126", "it could not be started, or is not allowed"],
      ["127", "it was not found"],
      ["128+n", "signal n ended it; for SIGINT codex run ends by SIGINT itself, so that loops of a shell stop"],
    ],
    examples: [
      "codex run make test",
      "codex run --tty -- vim notes.txt",
      "codex run --record demo.cast -- make",
      "codex run --executor 127.0.0.1:7000 -- uname -a",
      'codex run --executor "ssh build codex executor" -- make',
    ],
  }).action(async (name, args, options) => (await import("../commands/run.js")).runRun([name, ...args], options));

  const sandbox = program
    .command("sandbox")
    .description("Run a program in a sandbox of this host, by hand, or show what the sandbox is")
    .argument("[command...]", "Program and arguments")
    .option("-C, --cd <dir>", "Directory of the program, and the workspace")
    .option(
      "--writable-root <dir>",
      "With workspace-write: another directory that may be written; repeatable",
      append,
      [],
    )
    .option("--network", "With workspace-write: with the network", false)
    .option("--deny <path|pattern>", "What cannot be read, beside deny_read; repeatable", append, [])
    .option("--profile-json <file>", "The whole sandbox, as an executor is sent it");
  addTerminalOptions(sandbox)
    .option("--explain", "Print every path, what it may be used for and why, and the command line; run nothing", false)
    .option("--check", "Tell whether this host has a sandbox, or why not and what would mend it", false)
    .passThroughOptions();
  addNotes(addConfigOptions(sandbox), {
    text: [
      "The mode is that of --sandbox, else of the configuration: without any, workspace-write in a trusted project and read-only elsewhere. What the sandbox refused is said on stderr.",
    ],
    exitCodes: [
      ["0-255", "that of the program"],
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
