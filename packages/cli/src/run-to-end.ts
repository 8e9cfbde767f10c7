import { EXIT } from "./exit-codes.js";
import { watchOutput } from "./foreground/standard-output.js";

/** Runs a command. Sets the exit code; never rejects. @param report prints an error and returns the exit code */
export async function runToEnd(command: () => Promise<unknown>, report: (error: unknown) => number): Promise<void> {
  watchOutput();
  // Node exits when nothing is left to wait for, even if the command has not finished.
  process.once("beforeExit", failUnfinished);
  try {
    await command();
  } catch (error) {
    process.exitCode = report(error);
  }
  process.off("beforeExit", failUnfinished);
}

function failUnfinished(): void {
  process.stderr.write("codex: the command did not finish: what it waited for cannot happen any more\n");
  process.exitCode ||= EXIT.failure;
}
