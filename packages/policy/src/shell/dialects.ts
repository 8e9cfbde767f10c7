/** A continued line joins words for a shell, and parts them for the grammar. */
export const CONTINUATION = /[^ \t\n]\\\n[^ \t\n]/;
export const CONTINUATIONS = /\\\n/g;

/** What zsh and fish write otherwise: `=(…)`, `${=name}`, `(… | psub)`. */
export function translateDialect(script: string): string {
  return script
    .replace(/(^|[\s;(])=\(/g, "$1<(")
    .replace(/\$(\{?)[=~^]+(?=\w)/g, "$$$1")
    .replace(/\$\{\([^()]*\)/g, "$${")
    .replace(/\$\{\$\{([^{}]*)\}/g, "$${$1")
    .replace(/\$\{:-/g, "$${UNSET:-")
    .replace(/\(([^()]*)\|\s*psub\b[^()]*\)/g, "<($1)")
    .replace(/\bfor (\w+) in ([^;\n]*)[;\n](?!\s*do\b)([\s\S]{0,2000}?)[;\n]\s*end\b/g, "for $1 in $2; do $3; done")
    .replace(/\b(eval|source|command|exec|set|echo|string)((?: [\w-]+){0,4}) \(/g, "$1$2 $$(");
}

/** What a qualifier of a pattern of zsh runs: `*(e:code:)`, `*(+name)`. */
export const ZSH_QUALIFIER = /[\w*?./\]]\([^()\s]{0,40}?(?:e[^\w\s]|\+)([^)]{1,200})\)/g;

/** Flags of an expansion of zsh that make other characters of a value. */
export const ZSH_CHANGES = /\$\{\([^()\s]{0,40}[LUCPe#jsgpZlrQbVD%][^()]{0,40}\)/;
