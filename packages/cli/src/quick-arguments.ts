/** A command whose options need no more than their text, and how its options are called and begin. */
export interface QuickCommand {
  /** Name of the file that it is in. */
  part: string;
  /** By flag, such as `--listen`. */
  flags: Readonly<Record<string, { name: string; takesValue: boolean }>>;
  /** JSON of the options when none is given. */
  defaults: string;
  /** Whether words follow the options: those of a program, which are not looked at. */
  takesWords: boolean;
}

export interface QuickArguments {
  /** As commander would give them. */
  options: Record<string, unknown>;
  /** Behind the options. */
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
 * A plain command line, as commander would read it; undefined for everything that is not plain: help, what is wrong, repeated
 * or checked. That is left to commander, which takes longer to load than everything else.
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
