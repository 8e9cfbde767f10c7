/** A line continuation joins words for a shell, but separates them for the grammar. */
export const CONTINUATION = /[^ \t\n]\\\n[^ \t\n]/;
export const CONTINUATIONS = /\\\n/g;

/** Rewrites syntax that is different in zsh and fish: `=(…)`, `${=name}`, `(… | psub)`. */
export function translateDialect(script: string): string {
  return script
    .replace(/(^|[\s;(])=\(/g, "$1<(")
    .replace(/\$(\{?)[=~^]+(?=\w)/g, "$$$1")
    .replace(/\$\{\([^()]*\)/g, "$${")
    .replace(/\$\{\$\{([^{}]*)\}/g, "$${$1")
    .replace(/\$\{:-/g, "$${UNSET:-")
    .replace(/\{\$(\w+)\}/g, "$${$1}")
    .replace(/\\(?:[xX]([0-9a-fA-F]{2})|(?:u|U0000)00([0-7][0-9a-fA-F])|([01][0-7]{2}))/g, decodeLetter)
    .replace(/\(([^()]*)\|\s*psub\b[^()]*\)/g, "<($1)")
    .replace(/\bfor (\w+) in ([^;\n]*)[;\n](?!\s*do\b)([\s\S]{0,2000}?)[;\n]\s*end\b/g, "for $1 in $2; do $3; done")
    .replace(/\b(eval|source|command|exec|set|echo|string)((?: [\w-]+){0,4}) \(/g, "$1$2 $$(");
}

/** An escape outside of quotes, as fish reads it; other characters than those of names stay as they are written. */
function decodeLetter(sequence: string, hex = "", short = "", octal = ""): string {
  const code = Number.parseInt(`${hex}${short}` || octal, octal === "" ? 16 : 8);
  const letter = String.fromCharCode(code);
  return /[\w./-]/.test(letter) ? letter : sequence;
}

/** Code that a zsh glob qualifier runs: `*(e:code:)`, `*(+name)`. */
export const ZSH_QUALIFIER = /[\w*?./\]]\([^()\s]{0,40}?(?:e[^\w\s]|\+)([^)]{1,200})\)/g;

/** Flags of a zsh expansion that change the characters of a value, and nested expansions. */
export const ZSH_CHANGES = /\$\{(?:\([^()\s]{0,40}[LUCPe#jsgpZlrQbVD%][^()]{0,40}\)|\$[{(])/;
