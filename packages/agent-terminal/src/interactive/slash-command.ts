/** Slash commands with their help text. */
const SLASH_COMMANDS = {
  help: "this list",
  new: "a new thread",
  resume: "the threads of this directory; /resume NUMBER or ID continues one",
  model: "the model; /model NAME takes another one from the next turn on",
  status: "thread, model, place, tokens",
  compact: "replaces the history by a summary of it",
  diff: "what has changed in the git repository of the directory",
  sessions: "commands that still run; /sessions kill NUMBER ends one",
  approvals: "what is asked before it runs",
  view: "the live view: a page in the browser",
  quit: "leaves, and ends what still runs",
} as const;

/** Name of a slash command. */
export type SlashName = keyof typeof SLASH_COMMANDS;

/** A parsed slash command; `unknown`: no such command. */
export type SlashCommand =
  | { readonly kind: "known"; readonly name: SlashName; readonly argument: string }
  | { readonly kind: "unknown"; readonly word: string };

/** Commands that can run during a turn. */
export const ANYTIME: ReadonlySet<SlashName> = new Set<SlashName>([
  "help",
  "status",
  "sessions",
  "approvals",
  "view",
  "quit",
]);

/** Parses a slash command; undefined for a message to the model, including paths such as `/etc/hosts`. */
export function parseSlashCommand(text: string): SlashCommand | undefined {
  const [, word, argument = ""] = /^\/(\w+)(?:[ \t](.*))?$/.exec(text.trimEnd()) ?? [];
  if (word === undefined) return undefined;
  if (!isName(word)) return { kind: "unknown", word };
  return { kind: "known", name: word, argument: argument.trim() };
}

const isName = (word: string): word is SlashName => Object.hasOwn(SLASH_COMMANDS, word);

/** Renders the list of commands. */
export const renderHelp = (): string =>
  [
    ...Object.entries(SLASH_COMMANDS).map(([name, what]) => `  ${`/${name}`.padEnd(12)}${what}`),
    "  Enter sends, \\ before it or Alt-Enter begins another line, ↑ has what was sent before.",
    "  Ctrl-C ends the turn, twice leaves; Ctrl-D leaves. What is sent while a turn runs waits for its end.",
  ].join("\n");
