/** A line continuation joins words for a shell, but separates them for the grammar. */
const CONTINUATION = /[^ \t\n]\\\n[^ \t\n]/;
const CONTINUATIONS = /\\\n/g;

/** The script as a shell reads it, where the grammar takes other characters for blanks; none where that makes no difference. */
export function listReadings(script: string): string[] {
  const other = script
    // Not blanks to a shell: what follows is no comment, and the line is not continued.
    .replace(/(?<!\\)((?:\\\\)*)\\[ \t\v\f\r]/g, "$1_")
    .replace(/[\v\f]|\r(?!\n)/g, "_")
    // To the grammar, a line that begins with a backslash continues the one before it.
    .replace(/\n(?:\\\n)+/g, "\n")
    .replace(/\n\\/g, "\n \\");
  const joined = CONTINUATION.test(script) ? script.replace(CONTINUATIONS, "") : script;
  return [...new Set([other, joined])].filter((reading) => reading !== script);
}

/**
 * Other readings of a script in which the grammar may have taken too much for a here-document or a word.
 * `isRejected`: it does not understand the script.
 */
export function listGuessedReadings(script: string, isRejected: boolean): string[] {
  const readings = [
    ...(isRejected || JOINED_START.test(script) ? [dropHereDocuments(script)] : []),
    ...(isRejected ? [script.replace(/(^|[\s;&|()])#[^\n]*/g, "$1"), script.replace(/["'`]/g, "")] : []),
    // The grammar treats characters as blanks that a shell does not, and lets a pattern follow in the next line.
    script.replaceAll("\r", "_"),
    script.replace(/(=[=~])[ \t]*(?:#[^\n]*)?(?:\n|$)(?:\\\n)*/g, "$1;\n"),
  ];
  return readings.filter((reading) => reading !== script);
}

/** What follows the first command in a pattern that the grammar reads too far. */
export const readAfterPattern = (text: string): string => /[\n;&|]([\s\S]*)/.exec(text)?.[1] ?? "";

/** What the grammar takes for a part of the end of a here-document. */
const JOINED_START = /(?<!<)<<(?!<)-?[ \t]*(?:['"\\][\w -]+|[\w-][\w -]*)?['"]?[;&|<>()]/;

/** Without here-documents: what follows them is a command. */
function dropHereDocuments(script: string): string {
  const lines = script.split("\n");
  // Where each text is a line, the first place last.
  const places = new Map<string, number[]>();
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const text = (lines[at] ?? "").replace(/^\t+/, "");
    const others = places.get(text);
    if (others === undefined) places.set(text, [at]);
    else others.push(at);
  }
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const ends = Array.from(line.matchAll(HERE_START), ([, bare, single, double]) => bare ?? single ?? double ?? "");
    kept.push(line.replace(HERE_START, ""));
    for (const end of ends) {
      const found = places.get(end) ?? [];
      while ((found.at(-1) ?? lines.length) <= at) found.pop();
      at = found.at(-1) ?? at;
    }
  }
  return kept.join("\n");
}

const HERE_START = /(?<!<)<<(?!<)-?[ \t]*(?:\\?([A-Za-z_]\w*)|'([\w .-]+)'|"([\w .-]+)")/g;

/** Rewrites syntax that is different in zsh, ksh and fish: `=(…)`, `${=name}`, `${ …; }`, `(… | psub)`. */
export function translateDialect(script: string): string {
  return script
    .replace(/(^|[\s;(])=\(/g, "$1<(")
    .replace(/\$\{[\s|]((?:[^{}$]|\$(?!\{)|\$?\{[^{}]{0,200}\}){0,2000})\}/g, "$($1)")
    .replace(/\$(\{?)[=~^]+(?=\w)/g, "$$$1")
    .replace(/\$\{\([^()]*\)/g, "$${")
    .replace(/\$\{\$\{([^{}]*)\}/g, "$${$1")
    .replace(/\$\{:-/g, "$${UNSET:-")
    .replace(/\{\$(\w+)\}/g, "$${$1}")
    .replace(/\\(?:[xX]([0-9a-fA-F]{2})|(?:u|U0000)00([0-7][0-9a-fA-F])|([01][0-7]{2}))/g, decodeLetter)
    .replace(/\(([^()]*)\|\s*psub\b[^()]*\)/g, "<($1)")
    .replace(/\}\s*always\s*\{/g, "; }; {")
    .replace(
      /\bfor (\w+) in ((?:(?!\bfor \w+ in )[^;\n])*)[;\n]\s*\{([\s\S]{0,2000})\}(?=\s*(?:$|[;&|)\n]))/g,
      "for $1 in $2; do $3\ndone",
    )
    .replace(
      /\bfor (\w+) in ((?:(?!\bfor \w+ in )[^;\n])*)[;\n](?!\s*do\b)([\s\S]{0,2000}?)[;\n][^\S\n]*end\b/g,
      "for $1 in $2; do $3; done",
    )
    .replace(
      /((?<!\S)\[|\b(?:eval|source|command|exec|set|echo|string|test|count|printf|contains|math|cat|cd|ls))((?: [\w-]+){0,4}) \(/g,
      "$1$2 $$(",
    );
}

/** An escape outside of quotes, as fish reads it; other characters than those of names stay as they are written. */
function decodeLetter(sequence: string, hex = "", short = "", octal = ""): string {
  const code = Number.parseInt(`${hex}${short}` || octal, octal === "" ? 16 : 8);
  const letter = String.fromCharCode(code);
  return /[\w./-]/.test(letter) ? letter : sequence;
}

/** Code that a zsh glob qualifier runs: `*(e:code:)`, `*(+name)`. Any character may enclose the code. */
const ZSH_QUALIFIER = /[\w*?./\]]\([^()\s]{0,40}?(?:e[^\w\s]|\+)([^)]{1,200})\)/g;
const ZSH_LETTER_QUALIFIER = /[\w*?./\]]\([^()\s]{0,40}?e(\w)([^)]{1,200})\1[^()\s]{0,40}\)/g;

/** A quoted subscript without braces, which zsh evaluates: `$name['1$(…)']`. */
const ZSH_SUBSCRIPT = /\$\w+(\[[^\s\]]{0,40}['"][^\n]{1,200})/g;

/** Flags and modifiers of a zsh expansion that change the characters of a value, and nested expansions. */
const ZSH_CHANGES =
  /\$\{(?:\([^()\s]{0,40}[LUCPe#jsgpZlrQbVD%][^()]{0,40}\)|\$[{(]|\w+:(?:\w:)*g?s[^\w\s])|(?:^|[;&|\n({])[ \t]*[\w.*?/]+\([^()\s]{0,20}:[a-zA-Z&]/;

/** A function without a name, which runs at once: `() { … } arguments`. */
const ZSH_ANONYMOUS = /(?:^|[;&|\n({])[ \t]*(?:\(\)|function)\s*\{/;

/** A here-document whose end the grammar may not find: not a plain name, bare or in quotes. */
const ODD_END = /(?<!<)<<(?!<)(?!-?[ \t]*(?:\\?[A-Za-z_]\w*|'[\w .-]+'|"[\w .-]+")(?:[ \t\n;&|<>()]|$))/;

/**
 * What the grammar does not find in a script: texts that may be commands, values with substitutions, and why there may be more.
 * `isRejected`: it does not understand the script.
 */
export function readOtherSyntax(
  script: string,
  isRejected: boolean,
): { texts: string[]; deferred: string[]; unclear: string | undefined } {
  const isChanged = ZSH_CHANGES.test(script);
  const changed = isChanged ? "a flag of zsh changes a value in a way that is not followed" : undefined;
  return {
    texts: [
      ...[...script.matchAll(ZSH_QUALIFIER)].map(([, code = ""]) => code),
      ...[...script.matchAll(ZSH_LETTER_QUALIFIER)].map(([, , code = ""]) => code),
    ],
    deferred: [...script.matchAll(ZSH_SUBSCRIPT)].map(([, subscript = ""]) => subscript),
    unclear: /\bbrace_?ccl\b/i.test(script)
      ? "zsh expands braces around single characters"
      : ZSH_ANONYMOUS.test(script)
        ? "zsh runs a function without a name"
        : isRejected && ODD_END.test(script)
          ? "the end of a here-document is not found"
          : changed,
  };
}
