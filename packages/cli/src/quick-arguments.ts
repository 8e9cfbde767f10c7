/** A command whose options can be parsed without commander: their names and defaults. */
export interface QuickCommand {
  /** Name of its file. */
  part: string;
  /** By flag, such as `--listen`. */
  flags: Readonly<Record<string, { name: string; takesValue: boolean }>>;
  /** JSON of the options when none is given. */
  defaults: string;
  /** Whether the command line of a program follows the options; it is passed on unparsed. */
  takesWords: boolean;
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
 * Parses a plain command line as commander would; undefined for help, errors, repeated options and options with validation.
 * Those are left to commander, which takes longer to load than everything else.
 */
export function parseQuickly(command: QuickCommand, line: readonly string[]): QuickArguments | undefined {
  const options = JSON.parse(command.defaults) as Record<string, unknown>;
  const seen = new Set<string>();
  for (let at = 0; at < line.length; at += 1) {
    if (command.takesWords && line[at] === "--") return withWords(options, line.slice(at + 1));
    // The first word of a program ends the options.
    if (command.takesWords && /^[^-]/.test(line[at]!)) return withWords(options, line.slice(at));
    const [flag = "", ...rest] = line[at]!.split("=");
    const option = Object.hasOwn(command.flags, flag) ? command.flags[flag] : undefined;
    if (option === undefined || seen.has(flag)) return undefined;
    seen.add(flag);
    const inline = rest.length > 0 ? rest.join("=") : undefined;
    if (!option.takesValue) {
      if (inline !== undefined) return undefined;
      options[option.name] = true;
      continue;
    }
    const value = inline ?? line[++at];
    if (value === undefined || value === "" || (inline === undefined && value.startsWith("-"))) return undefined;
    options[option.name] = value;
  }
  return command.takesWords ? undefined : { options, words: [] };
}

const withWords = (options: Record<string, unknown>, words: string[]): QuickArguments | undefined =>
  words.length === 0 ? undefined : { options, words };
