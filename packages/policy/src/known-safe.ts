import { isStandardProgram, programName } from "./programs.js";

/** A program that only reads and prints, as long as `unless` finds nothing. */
export interface KnownSafeEntry {
  program: string;
  /** Only on hosts with this system; elsewhere the program is another one, or missing. */
  os?: "linux";
  /** The argument with which it does more than read; undefined if there is none. */
  unless?: (args: readonly string[]) => string | undefined;
}

const plain = (names: string): KnownSafeEntry[] => names.split(" ").map((program) => ({ program }));

/** The commands that run without approval under policy `untrusted`, and where a sandbox is missing. */
export const KNOWN_SAFE_COMMANDS: readonly KnownSafeEntry[] = [
  ...plain("cat cd cut echo expr false grep head id ls nl paste pwd rev seq stat tail tr true uname wc which whoami"),
  { program: "numfmt", os: "linux" },
  { program: "tac", os: "linux" },
  // A second operand is a file that it writes; `-` is an operand, and so is everything after `--`.
  { program: "uniq", unless: findSecondOperand },
  // Abbreviations of --output, and -o in a cluster of short flags.
  { program: "base64", unless: (args) => args.find((arg) => arg.startsWith("--o") || /^-[^-]*o/.test(arg)) },
  { program: "find", unless: (args) => args.find((arg) => /^-(exec|ok|fprint)|^-(delete|fls)$/.test(arg)) },
  { program: "rg", unless: (args) => args.find((arg) => RG_UNSAFE.test(arg)) },
  { program: "sed", unless: (args) => (isSedPrint(args) ? undefined : "anything but -n with a line range") },
];

/** The entry by which this plain command is known to be safe. */
export function findKnownSafeEntry(command: readonly string[], os: string | undefined): KnownSafeEntry | undefined {
  const [program, ...args] = command;
  if (program === undefined || !isStandardProgram(program)) return undefined;
  const name = programName(program);
  const entry = KNOWN_SAFE_COMMANDS.find((candidate) => candidate.program === name);
  if (entry === undefined || (entry.os !== undefined && entry.os !== os)) return undefined;
  return entry.unless?.(args) === undefined ? entry : undefined;
}

function findSecondOperand(args: readonly string[]): string | undefined {
  const end = args.indexOf("--");
  const before = (end === -1 ? args : args.slice(0, end)).filter((arg) => arg === "-" || !arg.startsWith("-"));
  return [...before, ...(end === -1 ? [] : args.slice(end + 1))][1];
}

/** Options that run another program: a preprocessor, a host name printer, a decompressor. */
const RG_UNSAFE = /^--(pre|hostname-bin|search-zip)|^-[^-]*z/;

/** `-n Np` or `-n N,Mp`, then at most one file; a further option could be a script that writes. */
function isSedPrint(args: readonly string[]): boolean {
  const [quiet, pattern, file, ...rest] = args;
  if (quiet !== "-n" || pattern === undefined || !/^\d+(,\d+)?p$/.test(pattern)) return false;
  return rest.length === 0 && !(file ?? "").startsWith("-");
}
