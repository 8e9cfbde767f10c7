import { posix } from "node:path";
import { plainName } from "./program-name.js";
import { hasHarmlessOutput } from "./unknown.js";

/**
 * Candidates for commands in a text of any language: the pieces between its quotes, brackets and operators, also without their
 * first words (`run-shell zap`).
 */
export function listPieces(text: string): string[][] {
  return text.split(PIECE_ENDS).flatMap((piece) => {
    const words = piece.trim().split(/\s+/, MAX_PIECE_WORDS);
    if (words[0] === "") return [];
    return words.slice(0, MAX_PIECE_STARTS).map((_, at) => words.slice(at));
  });
}

const PIECE_ENDS = /["'`(){}[\]=!:;|&,@$<>\r\n]+|(?<=\b(?:qx|%x))\//;

const MAX_PIECE_WORDS = 16;
const MAX_PIECE_STARTS = 4;

/** Values of options, attached or not, and whatever is more than a word. */
export function listValues(args: readonly string[]): string[] {
  return args.flatMap((arg, at) => {
    const isOption = /^[-+]./s.test(arg);
    const attached = isOption ? [arg.slice(1), arg.slice(2)] : [];
    const next = isOption && !/[=]/.test(arg) ? (args[at + 1] ?? "") : "";
    return [...attached, next, ...(/[^\w./-]/.test(arg) ? [arg] : [])];
  });
}

const INTERPRETERS =
  /^(?:python|pypy|node|nodejs|ruby|perl|php|lua|luajit|tclsh|expect|osascript|ed|ex|dc|m4|gdb|rscript|r|julia|ghci|jshell|irb|guile|elixir|groovy|scala)$/;

/** Whether an interpreter reads its program from its input, because its arguments name none. */
export function readsProgram([program = "", ...args]: readonly string[]): boolean {
  const name = plainName(program);
  if (/^n?vim?(?:\.\w+)?$/.test(name)) return args.some((arg) => /^-[a-z]*s$/.test(arg));
  if (!INTERPRETERS.test(name)) return false;
  return args.every((arg) => /^(?:-|\/dev\/stdin|-[a-zA-Z]|--\w[\w-]*)$/.test(arg) && !/^-[cemrf]$/.test(arg));
}

/** Files that are not executed by programs. */
const PROSE = /\.(?:md|markdown|txt|rst|adoc|html?|css|csv|svg|log|lock)$/i;

/** Whether a program that is started with these words may run what is in the file. */
export function mayUse(path: string, argv: readonly string[]): boolean {
  const [program = "", ...args] = argv;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (plainName(program) === "git") return /(?:^|[/.])git(?:\/|config)|hooks\//.test(path);
  return !PROSE.test(path) || args.some((arg) => arg.includes(name));
}

const READERS =
  /^(?:cat|ls|head|tail|grep|wc|stat|file|less|more|diff|cmp|echo|printf|nl|shellcheck|shfmt|git|\.|source|\w*sh|env|sudo|timeout|nohup|time|command|exec|nice|g?make|powershell)$/;

/** Whether a program that is started with these words may change the file that it names. */
export function mayChange(path: string, argv: readonly string[]): boolean {
  const [program = "", ...args] = argv;
  if (READERS.test(plainName(program)) || hasHarmlessOutput(argv) || posix.normalize(program) === path) return false;
  return args.some((arg) => posix.normalize(arg.slice(arg.indexOf("=") + 1)) === path);
}

/** A script of a shell, or what one reads at its start. */
export const isShellText = (path: string, text: string): boolean =>
  /^#!.*sh\b/.test(text) || /(?:rc|profile|login|env|\.sh)$|hooks\/[\w-]+$|gitconfig$/.test(path);
