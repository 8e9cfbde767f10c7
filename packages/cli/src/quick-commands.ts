import type { Command } from "commander";
import type { QuickCommand } from "./quick-arguments.js";

/** The commands whose start time matters most, and the file of each. */
const PARTS = {
  executor: "executor",
  "exec-server": "exec-server",
  run: "run",
  "tools list": "tools-list",
  exec: "exec",
} as const;

/** What `parseQuickly` needs to know of them, derived from the tree of commands by the build. */
export const describeQuickCommands = (program: Command): Record<string, QuickCommand> =>
  Object.fromEntries(Object.entries(PARTS).map(([name, part]) => [name, describe(find(program, name), part)]));

const find = (program: Command, name: string): Command =>
  name.split(" ").reduce((above, word) => above.commands.find((command) => command.name() === word)!, program);

function describe(command: Command, part: string): QuickCommand {
  // Options with validation or collection are left to commander.
  const plain = command.options.filter((option) => !option.parseArg && !option.argChoices && !option.negate);
  const flags = plain.flatMap((option) =>
    option.long == null || option.optional
      ? []
      : [[option.long, { name: option.attributeName(), takesValue: option.required }] as const],
  );
  const takesWords = command.registeredArguments.length > 0;
  return { part, flags: Object.fromEntries(flags), defaults: JSON.stringify(command.opts()), takesWords };
}
