import type { Command } from "commander";
import type { QuickCommand } from "./quick-arguments.js";

/** The commands that programs start and wait for. */
const QUICK_COMMANDS = ["executor", "exec-server"] as const;
export type QuickName = (typeof QUICK_COMMANDS)[number];

/** What `parseQuickly` needs to know of them, taken from the tree of commands when the command is built. */
export const describeQuickCommands = (program: Command): Record<string, QuickCommand> =>
  Object.fromEntries(
    QUICK_COMMANDS.map((name) => [name, describe(program.commands.find((command) => command.name() === name)!)]),
  );

function describe(command: Command): QuickCommand {
  // What is checked or collected is commander's business.
  const plain = command.options.filter((option) => !option.parseArg && !option.argChoices && !option.negate);
  const flags = plain.flatMap((option) =>
    option.long == null || option.optional
      ? []
      : [[option.long, { name: option.attributeName(), takesValue: option.required }] as const],
  );
  return { flags: Object.fromEntries(flags), defaults: JSON.stringify(command.opts()) };
}
