import { MAX_GUESS_WORDS } from "./limits.js";
import { isPlainProgram, isQuietProgram } from "./plain-programs.js";
import { lookupName, plainName } from "./program-name.js";
import { isUnknown } from "./unknown.js";
import { isWrapper, runsArguments } from "./wrappers.js";

/** What among the arguments of a program may be code: values of options, attached or not, and arguments that are no plain word. */
export function listCode([program = "", ...args]: readonly string[]): string[] {
  const isOdd = (arg: string) => /[^\w./:@%+,-]/.test(arg);
  // What a wrapper runs is visited by itself.
  if (isWrapper(program) && program !== "git") return args.filter(isOdd);
  const texts = args.flatMap((arg, at) => {
    if (/^[-+]./s.test(arg)) {
      const next = arg.includes("=") ? "" : (args[at + 1] ?? "");
      const attached = arg.startsWith("--") ? "" : arg.slice(2);
      return [arg.replace(/^[-+]+[\w-]*=?/, ""), attached, next];
    }
    return isOdd(arg) ? [arg, arg.replace(/^[\w.-]+=/, "")] : [];
  });
  // `1ezap` runs `zap`.
  if (/^g?sed$/.test(program)) texts.push(...args.map((arg) => arg.replace(/(?<=[\d$;{}!/])e(?=\w)/g, "e ")));
  if (NAMING.test(plainName(program)) || !isPlainProgram(program)) texts.push(...args);
  const isCode = isInterpreter(program) && args.some((arg) => /[({;\s@]/.test(arg) || arg === "-");
  return (isCode ? [...texts, ...args, args.join(" ")] : texts).filter((text) => text !== "");
}

/** Programs that give a file the name that they are given, by which code may run it. */
const NAMING = /^(?:touch|mkdir|cp|mv|ln|install)$/;

const INTERPRETERS =
  /^(?:python|pypy|node|nodejs|deno|bun|tsx|ruby|perl|php|lua|luajit|tclsh|expect|osascript|g?awk|[mn]awk|ed|ex|gdb|rscript|r|julia|m4|dc)$/;

/** Whether a program runs the code of a language. */
const isInterpreter = (program: string): boolean =>
  INTERPRETERS.test(plainName(program)) || INTERPRETERS.test(lookupName(program));

/** Whether an interpreter reads its program from its input, because its arguments name none. */
export const readsProgram = ([program = "", ...args]: readonly string[]): boolean =>
  (/^g?(?:make|sed|awk)$/.test(program) &&
    args.some((arg, at) => /^-\w*f$/.test(arg) && /^(?:-|\/dev\/stdin)$/.test(args[at + 1] ?? ""))) ||
  (isInterpreter(program) &&
    args.every((arg) => /^(?:-|\/dev\/stdin|-[a-zA-Z]|--\w[\w-]*)$/.test(arg) && !/^-[cemrf]$/.test(arg)));

/** Whether arguments, or the input, of a program may be code. */
export function takesCode([program = "", ...args]: readonly string[]): boolean {
  const name = plainName(program);
  if (name === "git") return runsArguments(args);
  if (name === "gh" || name === "glab") return args.some((arg) => /^(?:alias|extension|config|exec)$/.test(arg));
  return !isQuietProgram(program);
}

/** Files among the arguments that the program runs, with the arguments behind each. */
export function listRunFiles([program = "", ...args]: readonly string[]): { path: string; args: readonly string[] }[] {
  const isFile =
    isInterpreter(program) && !/awk$/.test(program)
      ? (arg: string) => /^[\w./][\w./-]*$/.test(arg)
      : (arg: string, before = "") => arg !== "-" && /^-\w*[fuSx]$|^--(?:file|eval-file)$/.test(before);
  if (!isInterpreter(program) && !FILE_RUNNERS.test(plainName(program))) return [];
  return args.flatMap((path, at) =>
    isFile(path, args[at - 1]) ? [{ path, args: args.slice(at + 1, at + 1 + MAX_GUESS_WORDS) }] : [],
  );
}

const FILE_RUNNERS = /^(?:[gmn]?awk|g?sed|g?make|n?vim?(?:\.\w+)?|ex|view|gdb|lldb|emacs|psql|sqlite3|mysql)$/;

/** Whether the code that an interpreter gets as an argument is known only at run time. */
export const runsUnknownCode = (words: readonly string[]): boolean =>
  isInterpreter(words[0] ?? "") &&
  words.some((word, at) => /^\$\(/.test(word) && isUnknown(word) && /^-\w*[ce]$/.test(words[at - 1] ?? ""));

/** Whether code finds files without their names: by a pattern, or a function of some language. */
export const findsFiles = ([program = "", ...args]: readonly string[]): boolean =>
  (isInterpreter(program) || plainName(program) === "sed") &&
  args.some((arg) => /[*?`]|\b(?:glob|listdir|scandir|readdir\w*|iterdir|walk|opendir)\b/.test(arg));

/** Whether input or arguments of a builtin become values of variables, which other programs may run. */
export const readsCode = ([program = "", ...args]: readonly string[]): boolean =>
  /^(?:read|mapfile|readarray)$/.test(program) || (program === "printf" && args[0] === "-v");

/** Whether code among the arguments names a shell, which reads the input of the program. */
export const namesShell = (args: readonly string[]): boolean =>
  args.some((arg) => /(?<![\w.-])(?:ba|da|z|k|c|tc|fi)?sh(?![\w.-])/.test(arg));

/**
 * Commands in a text of any language: the pieces between its quotes, brackets and operators, also without their first words
 * (`run-shell zap`).
 */
export function guessCommands(text: string): string[][] {
  // A shell joins the parts of a word: `z""ap`.
  const joined = text
    .split("\n")
    .flatMap((line) => (INNER_QUOTES.test(line) ? [line.replace(INNER_QUOTES_ALL, "")] : []));
  return [text, ...joined]
    .flatMap((each) => each.split(PIECE_ENDS))
    .flatMap((piece) => {
      // In a crontab, the time before a command has no letters.
      const words = piece
        .replace(/^(?:\s*[\d*?/,-]+(?=\s))+/, "")
        .trim()
        .split(/\s+/, MAX_GUESS_WORDS);
      return words[0] === "" ? [] : words.slice(0, MAX_STARTS).map((_, at) => words.slice(at));
    });
}

/** Between commands in code, and what begins one: Ghostscript runs the rest of a file name after `%pipe%`. */
const PIECE_ENDS = /%pipe%|\\[nrt]|(?<!\\)\\+(?=["'`])|["'`(){}[\]=!:;|&,@$<>#\r\n]+|(?<=\b(?:qx|%x))\//;

const INNER_QUOTES = /\w["'\\]+\w/;
const INNER_QUOTES_ALL = /(?<=\w)["'\\]+(?=\w)/g;

const MAX_STARTS = 4;
