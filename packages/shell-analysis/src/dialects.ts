/** A line continuation joins words for a shell, but separates them for the grammar. */
export const CONTINUATION = /[^ \t\n]\\\n[^ \t\n]/;
export const CONTINUATIONS = /\\\n/g;

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
      /\bfor (\w+) in ((?:(?!\bfor \w+ in )[^;\n])*)[;\n](?!\s*do\b)([\s\S]{0,2000}?)[;\n]\s*end\b/g,
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

/** What only zsh finds in a script: texts that may be commands, values with substitutions, and why there may be more. */
export function readZsh(script: string): { texts: string[]; deferred: string[]; unclear: string | undefined } {
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
        : changed,
  };
}
