import type { Command } from "commander";
import type { QuickCommand } from "./quick-arguments.js";

/** The commands that are started often and waited for, and the file each is in. */
const PARTS = {
  executor: "executor",
  "exec-server": "exec-server",
  run: "client",
  "tools list": "client",
} as const;

/** What `parseQuickly` needs to know of them, taken from the tree of commands when the command is built. */
export const describeQuickCommands = (program: Command): Record<string, QuickCommand> =>
  Object.fromEntries(Object.entries(PARTS).map(([name, part]) => [name, describe(find(program, name), part)]));

const find = (program: Command, name: string): Command =>
  name.split(" ").reduce((above, word) => above.commands.find((command) => command.name() === word)!, program);

function describe(command: Command, part: string): QuickCommand {
  // What is checked or collected is commander's business.
  const plain = command.options.filter((option) => !option.parseArg && !option.argChoices && !option.negate);
  const flags = plain.flatMap((option) =>
    option.long == null || option.optional
      ? []
      : [[option.long, { name: option.attributeName(), takesValue: option.required }] as const],
  );
  const takesWords = command.registeredArguments.length > 0;
  return { part, flags: Object.fromEntries(flags), defaults: JSON.stringify(command.opts()), takesWords };
}
