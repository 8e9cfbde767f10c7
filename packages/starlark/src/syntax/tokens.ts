export type Token =
  | { readonly kind: "newline" | "indent" | "dedent" | "end"; readonly text: string; readonly at: number }
  | { readonly kind: "name" | "keyword" | "symbol"; readonly text: string; readonly at: number }
  | { readonly kind: "int"; readonly text: string; readonly at: number; readonly value: bigint }
  | { readonly kind: "float"; readonly text: string; readonly at: number; readonly value: number }
  | { readonly kind: "string"; readonly text: string; readonly at: number; readonly value: string }
  | {
      readonly kind: "format-string";
      readonly text: string;
      readonly at: number;
      /** Offsets of the text between the quotes. */
      readonly bodyStart: number;
      readonly bodyEnd: number;
      readonly raw: boolean;
    };

export const KEYWORDS: ReadonlySet<string> = new Set([
  "and",
  "break",
  "continue",
  "def",
  "elif",
  "else",
  "for",
  "if",
  "in",
  "lambda",
  "load",
  "not",
  "or",
  "pass",
  "return",
]);

/** Keywords of Python that Starlark reserves and rejects everywhere. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set([
  "as",
  "assert",
  "async",
  "await",
  "class",
  "del",
  "except",
  "finally",
  "from",
  "global",
  "import",
  "is",
  "nonlocal",
  "raise",
  "try",
  "while",
  "with",
  "yield",
]);

/** Longest first, so that the first that fits is the right one. */
export const SYMBOLS: readonly string[] = [
  ..."//= <<= >>= ...".split(" "),
  ..."== != <= >= // << >> += -= *= %= /= |= &= ^= ** ->".split(" "),
  ..."+ - * / % | & ^ ~ < > = . , : ; ( ) [ ] { }".split(" "),
];

/** The name of a token in an error message. */
export function getTokenLabel(token: Token): string {
  switch (token.kind) {
    case "newline":
      return "the end of the line";
    case "end":
      return "the end of the file";
    case "indent":
      return "an indented block";
    case "dedent":
      return "the end of the block";
    default:
      return `\`${token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text}\``;
  }
}
