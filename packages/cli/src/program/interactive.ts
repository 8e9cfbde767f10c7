import type { Command } from "commander";
import type { AgentCommandOptions, ThreadChoice } from "../agent/agent-options.js";
import { withOuter } from "./agent.js";
import { addNotes } from "./help.js";
import { addAgentOptions, addAskingOption } from "./options.js";

/** `codex [PROMPT]` itself, and `codex resume`. Call it before other commands are added. */
export function addInteractive(program: Command): void {
  addAskingOption(addAgentOptions(program))
    .argument("[prompt]", "The first message of a conversation with an agent; without a terminal as codex exec")
    .action(async (prompt: string | undefined, options: AgentCommandOptions, command: Command) => {
      const isWord = prompt !== undefined && /^[\w-]+$/.test(prompt);
      if (command.args.length > 1 || (isWord && !isConversation())) refuseWord(command);
      return start(prompt, { kind: "new" }, options);
    })
    .hook("preSubcommand", (_program, child) => refuseOptions(program, child));
  program.addHelpText("after", "\nOptions of the conversation also apply to exec and resume.");
}

/** `codex resume`. */
export function addResume(program: Command): void {
  const resume = addAskingOption(addAgentOptions(program.command("resume")))
    .description("Continue a thread, in a conversation")
    .argument("[thread]", "Its id (default: shows those of this directory); with --last the message")
    .argument("[prompt]", "The next message")
    .option("--last", "The thread of this directory that was written last", false)
    .option("--all", "With --last: of any directory", false);
  addNotes(resume, { examples: ["codex resume --last"] });
  type Options = AgentCommandOptions & { last: boolean; all: boolean };
  resume.action(async (thread: string | undefined, prompt: string | undefined, options: Options, command: Command) => {
    const { last, all, ...merged } = withOuter(command, options);
    if (last) return start(thread ?? prompt, { kind: "last", all }, merged);
    return start(prompt, thread === undefined ? { kind: "pick" } : { kind: "resume", id: thread }, merged);
  });
}

const start = async (
  prompt: string | undefined,
  choice: ThreadChoice | { kind: "pick" },
  options: AgentCommandOptions,
) => (await import("../commands/interactive.js")).runInteractive(prompt, choice, options);

const isConversation = (): boolean => process.stdin.isTTY && process.stdout.isTTY;

/** A word that is not a command is taken as a message only at a terminal: in a script it is a misspelled command. */
function refuseWord(command: Command): never {
  // Commander's own error for such a word, which suggests similar commands; not part of its types.
  (command as Command & { unknownCommand(): void }).unknownCommand();
  throw new Error("unknown command"); // not reached: the line above throws
}

/** Commands that also accept options placed before them. */
const AGENT_COMMANDS: ReadonlySet<string> = new Set(["exec", "resume", "review"]);

/** An option before a command that does not take it would be silently ignored. */
function refuseOptions(program: Command, child: Command): void {
  for (const option of program.options) {
    const name = option.attributeName();
    if (program.getOptionValueSource(name) !== "cli") continue;
    if (AGENT_COMMANDS.has(child.name()) && child.options.some((other) => other.attributeName() === name)) continue;
    const isTyped = (flag: string | undefined) => process.argv.some((word) => word === flag);
    const typed = isTyped(option.short) ? option.short : option.long;
    program.error(`error: unknown option '${typed}'`, { code: "commander.unknownOption" });
  }
}
