import { MAX_REDACT_DEPTH } from "./limits.js";
import { readCommandWords, type TextWord } from "./script-text.js";
import { findSecretParts } from "./secret-options.js";

/** The replacement of a secret. */
const HIDDEN = "<hidden>";

const SECRET_WORDS =
  "KEY|SECRET|TOKEN|PASSW|PASSPHRASE|(?:STORE|DB|ROOT|USER|ADMIN|KS|SMTP)PASS|CREDENTIAL|AUTH(?!ORS?(?![a-z]))|COOKIE|DSN|BEARER|JWT|SIGNATURE";
/** Parts of names that count only as a whole name. */
const SECRET_PARTS = "PASS|PW|PSK|SIG|CREDS|OTP|PINCODE";
/** A name up to its end; what it contains is looked up first, once, so that no part of it is matched in several ways. */
const NAME = `(?=[\\w.-]*(?:${SECRET_WORDS})|(?:[\\w.-]*[_.-])?(?:${SECRET_PARTS})(?:[_.]|(?![\\w.-])|-(?![\\w.]*-))|\\w+_PWD(?![\\w.-]))[\\w.-]+`;
/** Matches only at the start of a word, so that matching a long text takes linear time. */
const SECRET_NAME = `(?<![\\w.-])${NAME}`;
const VALUE = `("[^"]*"?|'[^']*'?|[^\\s;&|]+)`;
/** Programs, and options of them, that read a password. */
const ASKING =
  "\\b(?:sudo\\s+-\\w*S|kinit|chpasswd|passwd|smbpasswd|vncpasswd|cryptsetup|lpass|op signin|secret-tool store|pass insert|age -p|sshfs|keepassxc-cli|realm join|gcloud secrets|hdiutil|read[ \\w-]{0,40}(?:PASS|TOKEN|SECRET|KEY)|[\\w -]{1,80}--(?:password|token|secret|auth|with|passphrase)[\\w-]{0,40}(?:stdin|token))";
type Replacement = string | ((found: string) => string);
/** What matches here matches at any length of text in linear time. */
const PATTERNS: readonly [RegExp, Replacement][] = [
  [/\b((?:Bearer|Basic|Digest|Negotiate|Token)\s+)[\w.+/=~:-]{6,}/gi, `$1${HIDDEN}`],
  // A header, up to the end of its line or quotes.
  [new RegExp(`(${SECRET_NAME}["']?\\s*:(?!//)\\s*["']?)[^"'\\n]+`, "gi"), `$1${HIDDEN}`],
  // NAME=value and --name=value, also inside a script, and Pwd= in a connection string.
  [new RegExp(`(${SECRET_NAME}["']?\\s?=\\s?)${VALUE}`, "gi"), `$1${HIDDEN}`],
  [/([;?&"'](?:pwd|password)\s?=\s?)[^\s;&"']+/gi, `$1${HIDDEN}`],
  // --name value
  [new RegExp(`((?<![\\w.-])--?${NAME}\\s+)("[^"]*"?|'[^']*'?|[^\\s;&|-][^\\s;&|]*)`, "gi"), `$1${HIDDEN}`],
  // SQL: identified by '…', password '…'
  [
    /\b((?:identified\s+by|(?:user|role|login)\b[^;"'\n]{0,80}\spassword|(?:password|passwd|pwd)\s*[:=])\s*)(["'`])[^"'`\n]*\2/gi,
    `$1$2${HIDDEN}$2`,
  ],
  // A file that is only this text.
  [/((?:private-key|preshared-key|auth-user-pass|data-file)[ =])<\([^)]*\)?/g, `$1${HIDDEN}`],
  [/(-D[\w.]*\.login=)[^\s;&|]+/gi, `$1${HIDDEN}`],
  // What a program reads as a password: echo … | sudo -S, kinit <<< …
  [new RegExp(`\\b(echo|printf)\\s[^|;&\\n]{1,400}(?=\\|[^|;&\\n]{0,400}${ASKING})`, "g"), `$1 ${HIDDEN} `],
  [new RegExp(`(${ASKING}[^|;&\\n]{0,400}<<<\\s?)${VALUE}`, "g"), `$1${HIDDEN}`],
  // https://user:password@host, https://token@host; `git@` is not a secret.
  [/(:\/\/)(?!git@)[^\s/?#'"]+@/g, `$1${HIDDEN}@`],
  [/:\/\/[^\s'"]+/g, hideBeforeAt(/(:\/\/[^:@/]*:)[^@]*/g)],
  // :pserver:user:password@host, field[password]=…
  [/:(?:pserver|sserver|ext):\S+/g, hideBeforeAt(/(:(?:pserver|sserver|ext):[^:@]{0,100}:)[^@]*/g)],
  [/(\[(?:password|concealed|otp)\]=)[^\s'"]+/gi, `$1${HIDDEN}`],
  [
    /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|glpat|npm|pypi|hf|gsk|xai|r8|shpat|shpss|figd|tskey|dckr_pat|dop_v1|whsec|sbp|nfp|lin_api|rubygems|xox[abeprs]|xapp)[-_][\w-]{8,}/g,
    HIDDEN,
  ],
  [/\bgithub_pat_\w{8,}/g, HIDDEN],
  [/\b(?:AKIA|ASIA|AIza|ATATT|ya29\.)[\w-]{12,}/g, HIDDEN],
  [/\b(?:hvs|hvb|SG)\.[\w-]{8,}[\w.-]*/g, HIDDEN],
  [/\beyJ[\w.-]+/g, (found) => (/^[\w-]+\.[\w-]/.test(found) ? HIDDEN : found)],
  [/(hooks\.slack\.com\/services\/|discord(?:app)?\.com\/api\/webhooks\/|\/bot(?=\d{6,}:))[\w/:-]+/g, `$1${HIDDEN}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g, HIDDEN],
];

const SECRET_FLAG = new RegExp(`^--?(?:${NAME}|pwd|pat|pin)$`, "i");

/** Subcommands that store the name and value that follow. */
const STORES = /^(?:config|configure|config:set|set|add|put|login|auth|secrets?|user-secrets|modify|connect|wifi)$/;
const STORED_NAME = new RegExp(`^(?=[\\w.:/-]*(?:${SECRET_WORDS}|PSK|PASS))[\\w.:/-]+$`, "i");

/**
 * Replaces what looks like a secret in a text such as a script, judged by its name, form or position. This is a heuristic:
 * a secret that looks like ordinary text stays.
 */
export function redact(text: string, depth = MAX_REDACT_DEPTH): string {
  let rest = 0;
  let hidden = "";
  for (const words of readCommandWords(text)) {
    const shown = hideByPosition(words.map(({ value }) => value));
    for (const [at, word] of words.entries()) {
      hidden += text.slice(rest, word.from) + (shown[at] ?? redactInner(text.slice(word.from, word.to), word, depth));
      rest = word.to;
    }
  }
  return redactByForm(hidden + text.slice(rest));
}

/** The same for the argv of a command; a word may be a script. */
export function redactWords(words: readonly string[]): string[] {
  const shown = hideByPosition(words);
  return words.map((word, at) => shown[at] ?? redact(word));
}

const redactByForm = (text: string): string =>
  PATTERNS.reduce(
    (rest, [pattern, replacement]) =>
      typeof replacement === "string" ? rest.replace(pattern, replacement) : rest.replace(pattern, replacement),
    text,
  );

/** Hides what follows the group of `start` up to an `@`, in a word that has one. */
function hideBeforeAt(start: RegExp): (word: string) => string {
  return (word) => {
    const last = word.lastIndexOf("@");
    return last === -1 ? word : word.slice(0, last).replace(start, `$1${HIDDEN}`) + word.slice(last);
  };
}

/** A quoted word with blanks may be a nested script. */
function redactInner(raw: string, { value }: TextWord, depth: number): string {
  const quote = raw[0] ?? "";
  const isQuoted = raw.length > 2 && (quote === '"' || quote === "'") && raw.endsWith(quote);
  if (!isQuoted || depth === 0 || !/\s/.test(value)) return raw;
  return `${quote}${redact(raw.slice(1, -1), depth - 1)}${quote}`;
}

/** The replacement of each word; undefined for one that has no secret by its position. */
function hideByPosition(words: readonly string[]): (string | undefined)[] {
  const parts = findSecretParts(words);
  const shown = new Array<string | undefined>(words.length).fill(undefined);
  const stores = words.findIndex((word) => STORES.test(word));
  for (const [at, word] of words.entries()) {
    const part = parts.get(at);
    if (part?.kind === "from") shown[at] = `${word.slice(0, part.at)}${HIDDEN}`;
    const isName = stores !== -1 && at > stores && STORED_NAME.test(word);
    const next = words[at + 1];
    if (next === undefined || shown[at + 1] !== undefined) continue;
    if (part?.kind === "next" || SECRET_FLAG.test(word) || (isName && !next.startsWith("-"))) shown[at + 1] = HIDDEN;
  }
  return shown;
}
