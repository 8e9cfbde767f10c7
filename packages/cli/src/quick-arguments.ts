/** Options of a command that need no more than their text, and how its options are called and begin. */
export interface QuickCommand {
  /** By flag, such as `--listen`. */
  flags: Readonly<Record<string, { name: string; takesValue: boolean }>>;
  /** JSON of the options when none is given. */
  defaults: string;
}

/**
 * The options of a plain command line, as commander would give them; undefined for everything that is not plain: help, what
 * is wrong, repeated or checked. That is left to commander, which takes longer to load than everything else.
 */
export function parseQuickly(command: QuickCommand, words: readonly string[]): Record<string, unknown> | undefined {
  const options = JSON.parse(command.defaults) as Record<string, unknown>;
  const seen = new Set<string>();
  for (let at = 0; at < words.length; at += 1) {
    const [flag = "", ...rest] = words[at]!.split("=");
    const option = Object.hasOwn(command.flags, flag) ? command.flags[flag] : undefined;
    if (option === undefined || seen.has(flag)) return undefined;
    seen.add(flag);
    const inline = rest.length > 0 ? rest.join("=") : undefined;
    if (!option.takesValue) {
      if (inline !== undefined) return undefined;
      options[option.name] = true;
      continue;
    }
    const value = inline ?? words[++at];
    if (value === undefined || value === "" || (inline === undefined && value.startsWith("-"))) return undefined;
    options[option.name] = value;
  }
  return options;
}
