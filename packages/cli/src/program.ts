import type { Command } from "commander";
import { addAgent } from "./program/agent.js";
import { addEnvironments } from "./program/environment.js";
import { nameHelpAfterErrors } from "./program/help.js";
import { addHostCommands } from "./program/host.js";
import { addInteractive, addResume } from "./program/interactive.js";
import { addJudging } from "./program/judge.js";
import { addMcp } from "./program/mcp.js";
import { addMcpServer } from "./program/mcp-server.js";
import { addRendezvous } from "./program/rendezvous.js";
import { addVersion, createRoot, runTree } from "./program/root.js";
import { addRunning } from "./program/run.js";
import { addServing } from "./program/serve.js";
import { addSessions } from "./program/sessions.js";
import { addThreads } from "./program/threads.js";
import { addTools } from "./program/tools.js";
import { addView } from "./program/view.js";

/** Parses the arguments and runs one command. Sets the exit code; never rejects. */
export const runProgram = (argv: readonly string[]): Promise<void> => runTree(createProgram(), argv);

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
  const program = createRoot(
    "Run an agent's commands here or elsewhere: lossless output, truthful outcomes, nothing unapproved",
  );
  addInteractive(program);
  addRunning(program);
  addTools(program);
  addMcpServer(program);
  addMcp(program);
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
  for (const command of [program, ...versioned]) addVersion(command);
  nameHelpAfterErrors(program);
  // Set before commands are added, which inherit it: several words that are not a command have an error of their own.
  program.allowExcessArguments();
  return program;
}
