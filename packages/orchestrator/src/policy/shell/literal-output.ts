import { posix } from "node:path";
import { MAX_LITERAL_OUTPUT } from "./limits.js";
import { decodeEscapes } from "./words.js";

/** What a command is known to print, given what it reads; undefined when that cannot be told from its words. */
export function getLiteralOutput(argv: readonly string[], input: string | undefined): string | undefined {
  const [program = "", ...args] = argv;
  const name = posix.basename(program);
  const output = PRINTERS.get(name)?.(args) ?? (isFilter(name, args) ? input : undefined);
  return output?.slice(0, MAX_LITERAL_OUTPUT) ?? decodeInput(name, args, input);
}

type Printer = (args: readonly string[]) => string;

const PRINTERS: ReadonlyMap<string, Printer> = new Map(
  Object.entries<Printer>({
    echo: printEcho,
    print: printEcho,
    yes: (args) => `${args.join(" ")}\n`,
    printf: (args) => printFormat(args[0] === "--" ? args.slice(1) : args),
  }),
);

function printEcho(args: readonly string[]): string {
  const first = args.findIndex((arg) => !/^-[neErR]+$/.test(arg));
  const options = first === -1 ? args : args.slice(0, first);
  const text = first === -1 ? "" : args.slice(first).join(" ");
  return `${options.some((option) => option.includes("e")) ? decodeEscapes(text) : text}\n`;
}

/** %s and %b take an argument each, other conversions print theirs as it is; the format repeats while there are any. */
function printFormat([format = "", ...rest]: readonly string[]): string {
  let text = "";
  do {
    const before = rest.length;
    text += decodeEscapes(format).replace(/%(?:%|[-+ #0-9.]*[a-zA-Z])/g, (part) =>
      part === "%%" ? "%" : (rest.shift() ?? ""),
    );
    if (rest.length === before) break;
  } while (rest.length > 0 && text.length < MAX_LITERAL_OUTPUT);
  return text;
}

/** Prints some or all of what it reads: counted as all of it. */
function isFilter(name: string, args: readonly string[]): boolean {
  if (name === "cat") return args.every((arg) => arg.startsWith("-") || arg === "/dev/stdin");
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
  "tr",
]);

function decodeInput(name: string, args: readonly string[], input: string | undefined): string | undefined {
  if (name !== "base64" || input === undefined || !args.some((arg) => /^(?:-\w*[dD]|--decode)/.test(arg)))
    return undefined;
  return Buffer.from(input, "base64").toString("utf8").slice(0, MAX_LITERAL_OUTPUT);
}
