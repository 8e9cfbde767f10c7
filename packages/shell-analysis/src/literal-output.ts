import { posix } from "node:path";
import { decodeEscapes, decodePrinted } from "./escapes.js";
import { MAX_LITERAL_OUTPUT } from "./limits.js";
import { isUnknown, toUnknown, withoutUnknown } from "./unknown.js";

/**
 * What a command is known to print, given its input and the contents of files; undefined if its words do not determine that. What
 * is only approximate, such as the lines that `grep` selects, is marked as unknown.
 */
export function getLiteralOutput(
  argv: readonly string[],
  input: string | undefined,
  files: ReadonlyMap<string, string>,
): string | undefined {
  const [program = "", ...args] = argv;
  const name = posix.basename(program);
  const held = args.flatMap((arg) => files.get(arg) ?? []);
  const read = held.length === 0 ? input : held.join("");
  const own = PRINTERS.get(name)?.(args);
  const printed = own ?? (isFilter(name, args, files) ? read : undefined);
  const output = printed ?? (read === undefined ? undefined : decodeInput(name, args, read));
  if (output === undefined) return undefined;
  // Decoding loses the mark of an unknown part.
  const isKnown = own !== undefined || read === undefined || !isUnknown(read);
  const isExact = isKnown && output.length <= MAX_LITERAL_OUTPUT && isExactly(name, args);
  return isExact ? output : toUnknown(output.slice(0, MAX_LITERAL_OUTPUT));
}

/** Whether the output is exact: the same in every shell, character by character. */
function isExactly(name: string, args: readonly string[]): boolean {
  if (name === "cat" || name === "tee") return args.every((arg) => !arg.startsWith("-") || arg === "-");
  if (name === "printf")
    return /^(?:[^\\%]|\\[nt\\]|\\[0-7]{3}|\\x[0-9a-fA-F]{2}|%%|%s|%b|%c|%\.\d+s)*$/.test(args[0] ?? "");
  if (name === "base64") return args.length <= 1;
  return (
    name === "rev" ||
    name === "yes" ||
    (name === "echo" && (args[0] === "-e" || !args.some((arg) => arg.includes("\\"))))
  );
}

type Printer = (args: readonly string[]) => string;

const PRINTERS: ReadonlyMap<string, Printer> = new Map(
  Object.entries<Printer>({
    echo: printEcho,
    print: (args) =>
      printEcho(
        args.slice(
          Math.max(
            args.findIndex((arg) => !/^-[a-zA-Z]*\d*$/.test(arg)),
            0,
          ),
        ),
      ),
    yes: (args) => `${args.join(" ")}\n`,
    printf: (args) => printFormat(args[0] === "--" ? args.slice(1) : args),
  }),
);

function printEcho(args: readonly string[]): string {
  const first = args.findIndex((arg) => !/^-[neErR]+$/.test(arg));
  const options = first === -1 ? args : args.slice(0, first);
  const whole = first === -1 ? "" : args.slice(first).join(" ");
  if (!options.some((option) => option.includes("e"))) return `${whole}\n`;
  const { text, isEnd } = decodePrinted(whole);
  return isEnd ? text : `${text}\n`;
}

/** %s and %b take an argument each, other conversions print theirs as it is; the format repeats while there are any. */
function printFormat([format = "", ...rest]: readonly string[]): string {
  let text = "";
  let isOver = false;
  do {
    const before = rest.length;
    const pieces = decodeEscapes(format).split(/(%(?:%|[-+ #0-9.]*[a-zA-Z]))/);
    for (const [at, piece] of pieces.entries()) {
      if (isOver) break;
      if (at % 2 === 0 || piece === "%%") text += at % 2 === 0 ? piece : "%";
      else {
        const value = rest.shift() ?? "";
        isOver = piece.endsWith("b") && decodePrinted(value).isEnd;
        text += convert(piece, value);
      }
    }
    if (rest.length === before) break;
  } while (rest.length > 0 && !isOver && text.length < MAX_LITERAL_OUTPUT);
  return text;
}

/** `%c`, `%.2s` and `%b`; all others print what they are given. */
function convert(conversion: string, text: string): string {
  const length = conversion.endsWith("c") ? "1" : /\.(\d+)[sb]$/.exec(conversion)?.[1];
  const value = conversion.endsWith("b") ? decodePrinted(text).text : text;
  return length === undefined ? value : value.slice(0, Number(length));
}

/** Prints some or all of what it reads: counted as all of it. */
function isFilter(name: string, args: readonly string[], files: ReadonlyMap<string, string>): boolean {
  if (name === "cat") return args.every((arg) => arg.startsWith("-") || arg === "/dev/stdin" || files.has(arg));
  return FILTERS.has(name);
}

const FILTERS: ReadonlySet<string> = new Set([
  "tee",
  "head",
  "tail",
  "grep",
  "sort",
  "uniq",
  "pv",
  "sponge",
  "sed",
  "cut",
  "fold",
  "nl",
  "paste",
  "shuf",
  "tac",
  "stdbuf",
  "awk",
  "gawk",
  "mawk",
  "egrep",
  "fgrep",
  "rg",
  "dd",
  "less",
  "more",
  "expand",
  "fmt",
  "envsubst",
  "column",
]);

function decodeInput(name: string, args: readonly string[], input: string): string | undefined {
  if (name === "rev") return input.replace(/.+/g, (line) => [...line].reverse().join(""));
  if (name === "tr") return translate(input, args);
  if (name === "base64" && args.length === 0) return `${Buffer.from(withoutUnknown(input)).toString("base64")}\n`;
  const encoding = getEncoding(name, args);
  if (encoding === undefined) return undefined;
  const known = withoutUnknown(input);
  const text = encoding === "hex" ? known.replace(/^[0-9a-f]+: |\s/gim, "") : known;
  return Buffer.from(text, encoding).toString("utf8").slice(0, MAX_LITERAL_OUTPUT);
}

function getEncoding(name: string, args: readonly string[]): "base64" | "hex" | undefined {
  const has = (option: RegExp) => args.some((arg) => option.test(arg));
  if (name === "xxd" && has(/^-\w*r/)) return "hex";
  if (name === "base64" && has(/^(?:-\w*[dD]|--d)/)) return "base64";
  return name === "openssl" && has(/^(?:base64|enc)$/) && has(/^-d$/) ? "base64" : undefined;
}

/** `tr from to` and `tr -d from`; with classes and other options as if it changed nothing. */
function translate(input: string, args: readonly string[]): string {
  const isDelete = /^-\w*d/.test(args[0] ?? "");
  const [from = "", to = ""] = args.filter((arg) => !arg.startsWith("-")).map(expandSet);
  if (isDelete) return [...input].filter((character) => !from.includes(character)).join("");
  if (to === "") return input;
  return [...input]
    .map((character) => {
      const at = from.indexOf(character);
      return at === -1 ? character : (to[Math.min(at, to.length - 1)] ?? character);
    })
    .join("");
}

const CLASSES: Readonly<Record<string, string>> = {
  "[:lower:]": "a-z",
  "[:upper:]": "A-Z",
  "[:digit:]": "0-9",
  "[:space:]": " \\t\\n",
};

/** `a-z` and escapes, spelled out. */
function expandSet(set: string): string {
  const plain = set.replace(/\[:\w+:\]/g, (name) => CLASSES[name] ?? name);
  return decodeEscapes(plain).replace(/([^-])-([^-])/g, (range, first: string, last: string) => {
    const [low, high] = [first.charCodeAt(0), last.charCodeAt(0)];
    if (high < low || high > 0x7f) return range;
    return String.fromCharCode(...Array.from({ length: high - low + 1 }, (_, index) => low + index));
  });
}
