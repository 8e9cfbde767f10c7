import { EXIT } from "./exit-codes.js";
import { watchOutput } from "./standard-output.js";

/** Runs a command of a person. Sets the exit code; never rejects. @param report tells of an error; its exit code */
export async function runToEnd(command: () => Promise<unknown>, report: (error: unknown) => number): Promise<void> {
  watchOutput();
  // Node ends once there is nothing left to wait for, whether or not the command has come to its end.
  process.once("beforeExit", failUnfinished);
  try {
    await command();
  } catch (error) {
    process.exitCode = report(error);
  }
  process.off("beforeExit", failUnfinished);
}

function failUnfinished(): void {
  process.stderr.write("codex: the command has not come to its end: what it waited for cannot come any more\n");
  process.exitCode ||= EXIT.failure;
}
