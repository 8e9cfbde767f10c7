import { type Argument, type Command, Option } from "commander";

/** An option that has an effect only with another one, which its description begins with. Alone it is an error. */
export class DependentOption extends Option {
  /**
   * @param needs the other option, such as `--remote`
   * @param substitutes hidden options that do instead
   */
  constructor(
    flags: string,
    readonly needs: string,
    description: string,
    readonly substitutes: readonly string[] = [],
  ) {
    super(flags, `With ${needs}: ${description}`);
  }
}

/**
 * Refuses, before a command runs, an option whose other option is missing, and an empty path: both would be ignored silently, and
 * the command would run somewhere else than it was told.
 */
export function checkOptions(command: Command): void {
  for (const option of command.options) {
    const value: unknown = isGiven(command, option.attributeName())
      ? command.getOptionValue(option.attributeName())
      : undefined;
    if (value === undefined) continue;
    if (namesPath(option.flags) && [value].flat().includes(""))
      refuse(command, `option '${option.flags}': expected a path, got ""`);
    if (!(option instanceof DependentOption)) continue;
    const flags = [option.needs, ...option.substitutes];
    if ([command, ...listParents(command)].some((each) => flags.some((flag) => takes(each, flag)))) continue;
    refuse(command, `option '${option.flags}' needs ${option.needs}`);
  }
  for (const [index, argument] of command.registeredArguments.entries()) {
    if (isFile(argument) && command.args[index] === "")
      refuse(command, `argument '${argument.name()}': expected a path, got ""`);
  }
}

const refuse = (command: Command, what: string): never => command.error(`error: ${what}`, { exitCode: 2 });

const namesPath = (flags: string): boolean => /<(path|file|dir|path\|pattern)>$/.test(flags);

const isFile = (argument: Argument): boolean => argument.name() === "file";

/** Whether an option, by its long flag, was given to this command itself. */
const takes = (command: Command, flag: string): boolean =>
  command.options.some((option) => option.long === flag && isGiven(command, option.attributeName()));

const isGiven = (command: Command, name: string): boolean => command.getOptionValueSource(name) === "cli";

/** Commands whose options also apply to it. */
function listParents({ parent }: Command): Command[] {
  return parent === null ? [] : [parent, ...listParents(parent)];
}
