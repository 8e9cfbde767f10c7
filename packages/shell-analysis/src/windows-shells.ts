import { type NestedCommand, type NestedCommands, toCommand, toSuffixes } from "./nested-commands.js";

/** Parameters of PowerShell that take a value on its command line. */
const VALUE_PARAMETERS =
  "executionpolicy ep inputformat if outputformat of windowstyle workingdirectory wd version psconsolefile configurationname configurationfile settingsfile custompipename encodedarguments ea";
const FLAG_PARAMETERS = "noprofile nologo noexit noninteractive interactive login sta mta noprofileloadtime help ?";

/** What PowerShell runs: parameters in any case, abbreviated anywhere, after `-`, `--` or `/`. */
export function unwrapPowerShell(args: readonly string[]): NestedCommands {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    const name = /^(?:--?|\/|\u2013|\u2014)([a-z?]+)$/i.exec(arg)?.[1]?.toLowerCase();
    const next = args[at + 1];
    const readRest = () => readPowerShell(args.slice(at + 1).join(" "));
    if (name === undefined) return toNested(arg === "-" ? [INPUT] : readPowerShell(args.slice(at).join(" ")));
    if (isBeginning(name, "command commandwithargs cwa")) {
      return toNested(next === "-" || next === undefined ? [INPUT] : readRest());
    }
    if (isBeginning(name, "encodedcommand ec")) {
      return toNested(readPowerShell(Buffer.from(next ?? "", "base64").toString("utf16le")));
    }
    if (isBeginning(name, "file")) return toNested([{ kind: "file", path: next ?? "" }, toCommand(args.slice(at + 1))]);
    if (isBeginning(name, VALUE_PARAMETERS)) at += 1;
    else if (!isBeginning(name, FLAG_PARAMETERS)) {
      const guesses = [...readRest(), ...toSuffixes(args.slice(at + 1))];
      return { inner: [], guesses, unclear: `a parameter of PowerShell is not known: \`${arg}\`` };
    }
  }
  return toNested([INPUT]);
}

const INPUT: NestedCommand = { kind: "input-script" };

const toNested = (inner: readonly NestedCommand[]): NestedCommands => ({ inner, guesses: [], unclear: undefined });

const isBeginning = (name: string, names: string): boolean => names.split(" ").some((each) => each.startsWith(name));

const POWERSHELL_PIECE =
  /([;|&(){}\r\n]|@\(|\$\()|([ \t,]+)|`([\s\S])|'((?:[^']|'')*)'|"((?:[^"`]|`[\s\S]|"")*)"|([^\s;|&(){}`'",]+)|["']/g;

/** The commands of a PowerShell script, cut at everything that separates; names in lower case as well. */
function readPowerShell(script: string): NestedCommand[] {
  const commands = cutCommands(script, POWERSHELL_PIECE, (escaped = "", single, double = "", plain) => {
    if (single !== undefined) return single.replaceAll("''", "'");
    return plain ?? (escaped === "\n" ? "" : escaped) + double.replace(/`([\s\S])/g, "$1").replaceAll('""', '"');
  });
  return commands.flatMap((words) => {
    const assigned = /^[-+*/]?=$/.test(words[1] ?? "") ? words.slice(2) : words;
    const [first = "", ...rest] = assigned[0] === "." || assigned[0] === "!" ? assigned.slice(1) : assigned;
    return withLowerCase([first, ...rest]);
  });
}

function withLowerCase(words: readonly string[]): NestedCommand[] {
  const [first = "", ...rest] = words;
  const small = first.toLowerCase();
  if (first === "") return [];
  return small === first ? [toCommand(words)] : [toCommand(words), toCommand([small, ...rest])];
}

/** `Start-Process -FilePath name -ArgumentList a, b`, and `iex text`. */
export function unwrapCmdlet(name: string, args: readonly string[]): NestedCommands | undefined {
  if (name === "iex" || name === "invoke-expression") {
    return toNested(readPowerShell(args.filter((arg) => !/^-command$/i.test(arg)).join(" ")));
  }
  if (name !== "start-process" && name !== "saps") return undefined;
  const words = args.filter((arg) => !/^-[a-z]+$/i.test(arg));
  return { inner: withLowerCase(words), guesses: toSuffixes(words), unclear: undefined };
}

const CMD_FLAGS = /^\/\/?(?:[sqdau]|[efv](?::\w+)?|t:\w+)$/i;

/** What `cmd` runs: everything after `/c`, `/k` or `/r`, attached or not. */
export function unwrapCmd(args: readonly string[]): NestedCommands {
  const at = args.findIndex((arg) => !CMD_FLAGS.test(arg));
  const arg = args[at];
  if (arg === undefined) return toNested([INPUT]);
  const clustered = /^(?:\/[sqdaufev](?::\w+)?)*\/\/?[ckr](.*)$/is.exec(arg);
  const text = [clustered?.[1] ?? arg, ...args.slice(at + 1)].join(" ");
  if (clustered !== null) return toNested(readCmd(text));
  return { inner: readCmd(text), guesses: toSuffixes(args), unclear: `an option of \`cmd\` is not known: \`${arg}\`` };
}

const CMD_PIECE = /([&|()\r\n])|([ \t,;=]+)|\^([\s\S])|(\0)|"([^"]*)"|([^\s&|(),;=^"]+)|["^]/g;

function readCmd(script: string): NestedCommand[] {
  const whole = /^\s*"([\s\S]*)"\s*$/.exec(script)?.[1];
  const read = (text: string) =>
    cutCommands(text, CMD_PIECE, (escaped = "", _nul, double = "", plain = "") => escaped + double + plain);
  return [...read(script), ...(whole === undefined ? [] : read(whole))].flatMap((words) => {
    const [first = "", ...rest] = words;
    const command = [first.replace(/^@/, ""), ...rest];
    return [...withLowerCase(command), ...(CMD_PREFIXES.test(command[0] ?? "") ? unwrapPrefix(rest) : [])];
  });
}

/** Words of `cmd` that precede a command. */
const CMD_PREFIXES = /^(?:call|start|if|for|do|else|cmd)$/i;

/** Of many words, only the places are tried that are guessed of any command. */
const unwrapPrefix = (words: readonly string[]): NestedCommand[] =>
  words.length > MAX_PREFIXED_WORDS
    ? [...toSuffixes(words), ...toSuffixes(words.map((word) => word.toLowerCase()))]
    : words.flatMap((_, at) => withLowerCase(words.slice(at)));

const MAX_PREFIXED_WORDS = 64;

type ReadPiece = (escaped?: string, single?: string, double?: string, plain?: string) => string;

/** Words of commands; the groups of `piece` are a separator, white space, and four ways to write a part of a word. */
function cutCommands(text: string, piece: RegExp, readPiece: ReadPiece): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  for (const [, separator, space, ...parts] of [...text.matchAll(piece), ["", ";"]]) {
    if (separator === undefined && space === undefined) {
      word = (word ?? "") + readPiece(...parts);
      continue;
    }
    if (word !== undefined) words.push(word);
    word = undefined;
    if (separator === undefined) continue;
    if (words.length > 0) commands.push(words);
    words = [];
  }
  return commands;
}
