import { MAX_COMMAND_LENGTH } from "./limits.js";
import { splitWords } from "./line-words.js";
import type { NestedCommand } from "./nested-commands.js";
import { isUnknown, withoutUnknown } from "./unknown.js";

type Inner = Extract<NestedCommand, { kind: "input-arguments" }>;

interface FilledCommand {
  readonly argv: readonly string[];
  /** Words of which a part is known only at run time. */
  readonly uncertain: readonly string[];
}

/**
 * The commands that `xargs` makes of its input: with all of it as arguments, then with each line by itself. Undefined in place
 * of one that would be longer than any command that is searched.
 */
export function* fillCommands(inner: Inner, input: string): Generator<FilledCommand | undefined> {
  yield fillCommand(inner, input);
  const lines = input.split(/[\n\0]/).filter((line) => line.trim() !== "");
  if (lines.length > 1) for (const line of lines) yield fillCommand(inner, line);
}

function fillCommand(inner: Inner, text: string): FilledCommand | undefined {
  const words = fillArguments(inner, text);
  if (words === undefined) return undefined;
  const known = new Set(inner.argv);
  const doubtful = isUnknown(text) ? words.filter((word) => !known.has(word)) : [];
  return { argv: words.map(withoutUnknown), uncertain: doubtful.map(withoutUnknown) };
}

function fillArguments({ argv, placeholder }: Inner, text: string): string[] | undefined {
  const words = splitWords(text.replaceAll("\0", "\n")) ?? text.split(/\s+/);
  if (placeholder === undefined) return [...argv, ...words];
  const line = /["'\\]/.test(text) ? words.join(" ") : text.trim();
  const places = argv.reduce((count, arg) => count + arg.split(placeholder).length - 1, 0);
  if (places * line.length > MAX_COMMAND_LENGTH) return undefined;
  return argv.map((arg) => arg.replaceAll(placeholder, () => line));
}
