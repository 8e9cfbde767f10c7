import { runRun } from "../commands/run.js";
import { runToolsList } from "../commands/tools-list.js";
import { reportError } from "../report-error.js";
import { runToEnd } from "../run-to-end.js";

const COMMANDS: Readonly<Record<string, (options: never, words: string[]) => Promise<void>>> = {
  run: (options: Parameters<typeof runRun>[1], words) => runRun(words, options),
  "tools list": (options: Parameters<typeof runToolsList>[0]) => runToolsList(options),
};

/** A command that drives an executor. Sets the exit code; never rejects. */
export const run = (name: string, options: never, words: string[]): Promise<void> =>
  runToEnd(() => COMMANDS[name]!(options, words), reportError);
