/** What stands for a secret. */
const HIDDEN = "<hidden>";

const SECRET_WORDS = "KEY|SECRET|TOKEN|PASSW|CREDENTIAL|AUTH|COOKIE|DSN";
/** Begins at the beginning of a word alone, so that a long text is read once. */
const SECRET_NAME = `(?<![\\w.-])[\\w.-]*(?:${SECRET_WORDS})[\\w.-]*`;
const PATTERNS: readonly [RegExp, string][] = [
  [/\b((?:Bearer|Basic)\s+)[\w.+/=~-]+/gi, `$1${HIDDEN}`],
  // A header, up to the end of its line or quotes.
  [new RegExp(`(${SECRET_NAME}["']?\\s*:\\s*["']?)[^"'\\n]+`, "gi"), `$1${HIDDEN}`],
  // NAME=value and --name=value, also inside a script.
  [new RegExp(`(${SECRET_NAME}=)("[^"]*"|'[^']*'|[^\\s;&|]+)`, "gi"), `$1${HIDDEN}`],
  [
    new RegExp(`((?<![\\w.-])--?[\\w.-]*(?:${SECRET_WORDS})[\\w.-]*\\s+)("[^"]*"|'[^']*'|[^\\s;&|-][^\\s;&|]*)`, "gi"),
    `$1${HIDDEN}`,
  ],
  // https://user:password@host
  [/(:\/\/[^\s/:@]*:)[^\s/@]+@/g, `$1${HIDDEN}@`],
  [/\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|npm|xox[abprs])[-_][\w-]{8,}/g, HIDDEN],
  [/\bgithub_pat_\w{8,}/g, HIDDEN],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g, HIDDEN],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, HIDDEN],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g, HIDDEN],
];

const SECRET_FLAG = new RegExp(`^--?[\\w.-]*(?:${SECRET_WORDS})[\\w.-]*$`, "i");

/** A text without what looks like a secret. A guess: what looks like nothing in particular stays. */
export const redact = (text: string): string =>
  PATTERNS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);

/** Words of a command; the one after `--password` and its like is a secret, too. */
export const redactWords = (words: readonly string[]): string[] =>
  words.map((word, index) => (SECRET_FLAG.test(words[index - 1] ?? "") ? HIDDEN : redact(word)));
