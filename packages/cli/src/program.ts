import { Command, CommanderError } from "commander";
import { EXIT } from "./exit-codes.js";
import { addAgent } from "./program/agent.js";
import { checkOptions } from "./program/check-options.js";
import { addEnvironments } from "./program/environment.js";
import { nameHelpAfterErrors, styleHelp } from "./program/help.js";
import { addHostCommands } from "./program/host.js";
import { addInteractive, addResume } from "./program/interactive.js";
import { addJudging } from "./program/judge.js";
import { addMcpServer } from "./program/mcp-server.js";
import { addRendezvous } from "./program/rendezvous.js";
import { addRunning } from "./program/run.js";
import { addServing } from "./program/serve.js";
import { addSessions } from "./program/sessions.js";
import { addThreads } from "./program/threads.js";
import { addTools } from "./program/tools.js";
import { addView } from "./program/view.js";
import { reportError } from "./report-error.js";
import { runToEnd } from "./run-to-end.js";
import { VERSION_LINE } from "./version.js";

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

/** Servers, of which one wants to know what is running, and commands that have the option in Codex. */
const VERSIONED: ReadonlySet<string> = new Set([
  "executor",
  "exec-server",
  "rendezvous",
  "mcp-server",
  "view",
  "exec",
  "resume",
]);

/** The tree of commands. Each loads its code only when it runs. */
export function createProgram(): Command {
  const program = styleHelp(new Command("codex"))
    .description("Run an agent's commands here or elsewhere: lossless output, truthful outcomes, nothing unapproved")
    .exitOverride()
    .enablePositionalOptions()
    .hook("preAction", (_program, command) => checkOptions(command));
  addInteractive(program);
  addRunning(program);
  addTools(program);
  addMcpServer(program);
  addAgent(program);
  addResume(program);
  addThreads(program);
  addSessions(program);
  addView(program);
  addEnvironments(program);
  addServing(program);
  addRendezvous(program);
  addJudging(program);
  addHostCommands(program, createProgram);
  const versioned = program.commands.filter((command) => VERSIONED.has(command.name()));
  for (const command of [program, ...versioned]) command.version(VERSION_LINE, "-V, --version", "Print the version");
  nameHelpAfterErrors(program);
  // Set before commands are added, which inherit it: several words that are not a command have an error of their own.
  program.allowExcessArguments();
  return program;
}
