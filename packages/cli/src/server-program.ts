import type { Command } from "commander";
import { nameHelpAfterErrors } from "./program/help.js";
import { addVersion, createRoot, runTree } from "./program/root.js";
import { addExecServer } from "./program/serve.js";

/**
 * Parses the arguments and runs one command: the tree of the command that `ssh://` uploads, which has the exec-server alone. Sets the exit
 * code; never rejects.
 */
export const runProgram = (argv: readonly string[]): Promise<void> => runTree(createProgram(), argv);

function createProgram(): Command {
  const program = createRoot("The exec-server that codex has uploaded to this host for ssh:// environments");
  const execServer = addExecServer(program).action(async (options) => {
    if (options.attach === true) await (await import("./parts/attach.js")).run("exec-server", options);
    else await (await import("./parts/exec-server.js")).run("exec-server", options);
  });
  for (const command of [program, execServer]) addVersion(command);
  nameHelpAfterErrors(program);
  return program;
}
