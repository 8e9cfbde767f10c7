/** Whether a path is equal to a directory, or below it. Both absolute and normalized. */
export const isWithin = (path: string, directory: string): boolean =>
  path === directory || directory === "/" || path.startsWith(`${directory}/`);

/** Most alternatives of the braces of one pattern. */
const MAX_ALTERNATIVES = 1024;

/** Brace alternatives of a pattern, as in the shell. @throws Error naming the limit when there are too many */
export function expandBraces(pattern: string): string[] {
  let patterns = [pattern];
  for (;;) {
    const found = patterns.map((each) => ({ each, braces: INNERMOST_BRACES.exec(each) }));
    if (found.every(({ braces }) => braces === null)) return patterns;
    const split = found.map(({ each, braces }) => ({ each, braces, choices: braces?.[1]?.split(",") ?? [] }));
    const count = split.reduce((sum, { choices }) => sum + Math.max(choices.length, 1), 0);
    if (count > MAX_ALTERNATIVES) {
      throw new Error(`the braces of a pattern have more than ${MAX_ALTERNATIVES} alternatives`);
    }
    patterns = split.flatMap(({ each, braces, choices }) => {
      if (braces === null) return [each];
      const before = each.slice(0, braces.index);
      const after = each.slice(braces.index + braces[0].length);
      return choices.map((choice) => before + choice + after);
    });
  }
}

const INNERMOST_BRACES = /\{([^{},]*,[^{}]*)\}/;

/**
 * The source of a regular expression (flags `su`) for one name of a pattern: `*`, `?`, and brackets as in glob(7). A range in the
 * wrong order is reversed, and an unclosed bracket matches itself: no pattern is invalid.
 */
export function renderNamePattern(name: string): string {
  let source = "";
  const lastClosing = name.lastIndexOf("]");
  for (let at = 0; at < name.length; at += 1) {
    const character = name.charAt(at);
    const bracket = character === "[" && at < lastClosing ? BRACKET.exec(name.slice(at)) : null;
    if (character === "*") source += "[^/]*";
    else if (character === "?") source += "[^/]";
    else if (bracket !== null) {
      source += renderBracket(bracket[1] !== undefined, bracket[2] ?? "");
      at += bracket[0].length - 1;
    } else source += character.replace(SYNTAX, "\\$&");
  }
  return source;
}

/** A bracket expression. A `]` at its start, or in a class such as `[:alpha:]`, does not end it. */
const BRACKET = /^\[(?:([!^])|(?![!^]))((?:\[:[a-z]+:\]|[\s\S])(?:\[:[a-z]+:\]|[^\]])*)\]/u;

/** Named classes, ranges, then single characters. */
const MEMBER = /\[:([a-z]+):\]|(.)-(.)|(.)/gsu;

function renderBracket(isNegated: boolean, body: string): string {
  const members = [...body.matchAll(MEMBER)].map(([, named, from = "", to = "", single = ""]) => {
    if (named !== undefined) return CLASSES[named] ?? "";
    if (from === "") return escapeMember(single);
    const isOrdered = (from.codePointAt(0) ?? 0) <= (to.codePointAt(0) ?? 0);
    return isOrdered ? `${escapeMember(from)}-${escapeMember(to)}` : `${escapeMember(to)}-${escapeMember(from)}`;
  });
  return isNegated ? `[^/${members.join("")}]` : `(?!/)[${members.join("")}]`;
}

/** The classes of POSIX, as the inside of a bracket. */
const CLASSES: Readonly<Record<string, string>> = {
  alnum: "\\p{L}\\p{N}",
  alpha: "\\p{L}",
  blank: " \\t",
  cntrl: "\\p{Cc}",
  digit: "0-9",
  graph: "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}",
  lower: "\\p{Ll}",
  print: "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S} ",
  punct: "\\p{P}\\p{S}",
  space: "\\s",
  upper: "\\p{Lu}",
  xdigit: "0-9A-Fa-f",
};

const SYNTAX = /[\\^$.|+*?(){}[\]/]/u;

/** Escapes a character for a bracket, where a dash is also special. */
const escapeMember = (character: string): string => character.replace(/[\\^$.|+*?(){}[\]/-]/u, "\\$&");
