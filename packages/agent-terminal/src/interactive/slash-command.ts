/** Commands of the interactive mode, and what they do. */
const SLASH_COMMANDS = {
  help: "this list",
  new: "a new thread",
  resume: "the threads of this directory; /resume NUMBER or ID goes on with one",
  model: "the model; /model NAME takes another one from the next turn on",
  status: "thread, model, place, tokens",
  compact: "replaces the history by a summary of it",
  diff: "what has changed in the git repository of the directory",
  sessions: "commands that still run; /sessions kill NUMBER ends one",
  approvals: "what is asked before it runs",
  view: "the live view",
  quit: "leaves, and ends what still runs",
} as const;

/** The name of a command. */
export type SlashName = keyof typeof SLASH_COMMANDS;

/** A message that is a command; `unknown`: it has the form of one. */
export type SlashCommand =
  | { readonly kind: "known"; readonly name: SlashName; readonly argument: string }
  | { readonly kind: "unknown"; readonly word: string };

/** Commands that can be carried out while a turn runs. */
export const ANYTIME: ReadonlySet<SlashName> = new Set<SlashName>([
  "help",
  "status",
  "sessions",
  "approvals",
  "view",
  "quit",
]);

/** Undefined for a message to the model. A path such as `/etc/hosts` is one. */
export function parseSlashCommand(text: string): SlashCommand | undefined {
  const [, word, argument = ""] = /^\/(\w+)(?:[ \t]+([^\n]*))?\s*$/.exec(text) ?? [];
  if (word === undefined) return undefined;
  if (!isName(word)) return { kind: "unknown", word };
  return { kind: "known", name: word, argument: argument.trim() };
}

const isName = (word: string): word is SlashName => Object.hasOwn(SLASH_COMMANDS, word);

/** The list of commands. */
export const renderHelp = (): string =>
  [
    ...Object.entries(SLASH_COMMANDS).map(([name, what]) => `  ${`/${name}`.padEnd(12)}${what}`),
    "  Enter sends, \\ before it or Alt-Enter begins another line, ↑ has what was sent before.",
    "  Ctrl-C ends the turn, twice leaves; Ctrl-D leaves. What is sent while a turn runs waits for its end.",
  ].join("\n");
