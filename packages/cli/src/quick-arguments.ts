/** A command whose options can be parsed without commander: their names and defaults. */
export interface QuickCommand {
  /** Name of its file. */
  part: string;
  /** By flag, such as `--listen` or `-C`. */
  flags: Readonly<Record<string, QuickFlag>>;
  /** JSON of the options when none is given. */
  defaults: string;
  /**
   * What is allowed besides the options: nothing; the command line of a program, which ends them and is passed on unparsed; or
   * one word, before or after them.
   */
  operands: "none" | "program" | "one";
  /** Names of its subcommands. */
  commands: readonly string[];
}

export interface QuickFlag {
  name: string;
  takesValue: boolean;
  /** May be repeated: the option is the list of its values. */
  collects?: true;
  /** `--no-…`: the option is false. */
  negates?: true;
  /** The allowed values. */
  choices?: readonly string[];
  /** Flags one of which has to be given as well. */
  needs?: readonly string[];
}

export interface QuickArguments {
  /** As commander would return them. */
  options: Record<string, unknown>;
  /** Words after the options. */
  words: string[];
}

/** The command that a line begins with, and how many words its name has. */
export function findQuickCommand(
  commands: Readonly<Record<string, QuickCommand>>,
  line: readonly string[],
): { name: string; command: QuickCommand; count: number } | undefined {
  for (const count of [1, 2]) {
    const name = line.slice(0, count).join(" ");
    if (Object.hasOwn(commands, name)) return { name, command: commands[name]!, count };
  }
  return undefined;
}

/**
 * Parses a plain command line as commander would; undefined for help, errors, subcommands and what only commander
 * checks. Commander handles those; it takes longer to load than everything else.
 */
export function parseQuickly(command: QuickCommand, line: readonly string[]): QuickArguments | undefined {
  const options = JSON.parse(command.defaults) as Record<string, unknown>;
  const words: string[] = [];
  const seen = new Set<string>();
  const flags = new Set<string>();
  const finish = (rest: string[]): QuickArguments | undefined =>
    [...flags].every((flag) => command.flags[flag]?.needs?.some((needed) => flags.has(needed)) ?? true)
      ? { options, words: rest }
      : undefined;
  for (let at = 0; at < line.length; at += 1) {
    const word = line[at]!;
    if (command.operands === "program") {
      if (word === "--") return at + 1 < line.length ? finish(line.slice(at + 1)) : undefined;
      // The first word of a program ends the options.
      if (/^[^-]/.test(word)) return finish(line.slice(at));
    }
    if (command.operands === "one" && /^[^-]/.test(word)) {
      if (words.length > 0 || command.commands.includes(word)) return undefined;
      words.push(word);
      continue;
    }
    // The value of a short option follows it in many ways.
    const [flag = "", ...rest] = word.startsWith("--") ? word.split("=") : [word];
    const option = Object.hasOwn(command.flags, flag) ? command.flags[flag]! : undefined;
    if (option === undefined || (seen.has(option.name) && !option.collects)) return undefined;
    seen.add(option.name);
    flags.add(flag);
    const inline = rest.length > 0 ? rest.join("=") : undefined;
    if (!option.takesValue) {
      if (inline !== undefined) return undefined;
      options[option.name] = !option.negates;
      continue;
    }
    const value = inline ?? line[++at];
    if (value === undefined || value === "" || (inline === undefined && value.startsWith("-"))) return undefined;
    if (option.choices !== undefined && !option.choices.includes(value)) return undefined;
    const before = options[option.name];
    options[option.name] = option.collects ? [...(Array.isArray(before) ? before : []), value] : value;
  }
  return command.operands === "program" ? undefined : finish(words);
}
