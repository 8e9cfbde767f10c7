import type { Command, Option } from "commander";
import { DependentOption } from "./program/check-options.js";
import { append } from "./program/options.js";
import type { QuickCommand, QuickFlag } from "./quick-arguments.js";

/** The commands whose start time matters most, and the file of each. */
const PARTS = {
  executor: "executor",
  "exec-server": "exec-server",
  run: "run",
  "tools list": "tools-list",
  exec: "exec",
  "mcp-server": "mcp-server",
} as const;

/** What `parseQuickly` needs to know about them, derived from the tree of commands by the build. */
export const describeQuickCommands = (program: Command): Record<string, QuickCommand> =>
  Object.fromEntries(Object.entries(PARTS).map(([name, part]) => [name, describe(find(program, name), part)]));

const find = (program: Command, name: string): Command =>
  name.split(" ").reduce((above, word) => above.commands.find((command) => command.name() === word)!, program);

function describe(command: Command, part: string): QuickCommand {
  const flags = command.options.flatMap((option) => {
    const flag = describeFlag(option);
    return flag === undefined ? [] : [option.long, option.short].flatMap((name) => (name ? [[name, flag]] : []));
  });
  const words = command.registeredArguments;
  return {
    part,
    flags: Object.fromEntries(flags),
    defaults: JSON.stringify(command.opts()),
    operands: words.length === 0 ? "none" : words.some(({ variadic }) => variadic) ? "program" : "one",
    commands: [...command.commands.flatMap((below) => [below.name(), ...below.aliases()]), "help"],
  };
}

/** Undefined for options that commander acts on, and for those whose values it checks, other than against a list. */
function describeFlag(option: Option): QuickFlag | undefined {
  if (option.optional || option.long === "--version") return undefined;
  const needs = option instanceof DependentOption ? { needs: [option.needs, ...option.substitutes] } : {};
  const flag = { name: option.attributeName(), takesValue: option.required, ...needs };
  if (option.negate) return { ...flag, negates: true };
  if (option.argChoices !== undefined) return { ...flag, choices: option.argChoices };
  if (option.parseArg === undefined) return flag;
  return option.parseArg === append ? { ...flag, collects: true } : undefined;
}
