import { Command, CommanderError } from "commander";
import { EXIT } from "../exit-codes.js";
import { reportError } from "../report-error.js";
import { runToEnd } from "../run-to-end.js";
import { VERSION_LINE } from "../version.js";
import { checkOptions } from "./check-options.js";
import { styleHelp } from "./help.js";

/** The root of a tree of commands, without commands. */
export const createRoot = (description: string): Command =>
  styleHelp(new Command("codex"))
    .description(description)
    .exitOverride()
    .enablePositionalOptions()
    .hook("preAction", (_program, command) => checkOptions(command));

/** Set after the commands are added: their `--version` would be another. */
export const addVersion = (command: Command): Command =>
  command.version(VERSION_LINE, "-V, --version", "Print the version");

/** Parses the arguments and runs one command. Sets the exit code; never rejects. */
export const runTree = (program: Command, argv: readonly string[]): Promise<void> =>
  runToEnd(() => program.parseAsync([...argv]), report);

function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version were asked for and are on stdout; everything else is already on stderr.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  return reportError(error);
}
