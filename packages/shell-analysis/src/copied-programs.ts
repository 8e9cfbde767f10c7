import { posix } from "node:path";
import { MAX_COPY_GUESSES } from "./limits.js";
import { plainName } from "./program-name.js";

type Argv = readonly string[];

const COPIERS = /^(?:cp|ln|install|mv|dd|rsync|scp|link|sort|curl|cmake)$/;

/** `command -v name` and the like print the path of a program. */
const LOCATORS = /^(?:command|which|type|whereis|where)$/;

/**
 * Programs that a script copies or links under another name: the program itself, and with the arguments that the other name is
 * started with. All are guesses: what is copied may be no program.
 */
export function listCopies(commands: readonly Argv[]): string[][] {
  const copies = commands.filter(([program = ""]) => COPIERS.test(plainName(program)));
  if (copies.length === 0) return [];
  const located = commands.flatMap(([program = "", ...args]) => (LOCATORS.test(plainName(program)) ? args : []));
  const names = located.filter((name) => !name.startsWith("-"));
  const found = copies.flatMap(([, ...args]) => {
    const paths = args.map((arg) => arg.replace(/^(?:if=|of=|file:\/\/)/, ""));
    const sources = [...paths.filter((path) => path.includes("/")), ...names];
    const targets = new Set(paths.map((path) => posix.basename(path)));
    const uses = commands.filter(([program = ""]) => targets.has(posix.basename(program)));
    return sources.flatMap((source) => [[source], ...uses.map(([, ...words]) => [source, ...words])]);
  });
  return found.slice(0, MAX_COPY_GUESSES);
}

/** Programs that write what they read, or another file, to a file that an argument names. */
export const WRITERS: ReadonlySet<string> = new Set("cp install dd tee sponge ln mv xxd".split(" "));

/** Programs whose arguments are names of files, which other commands print: `ln -s 'zap x' f; eval "$(readlink f)"`. */
const NAMERS = /^(?:mkdir|touch|ln|cp|mv|cd|pushd|dirname|basename|readlink|realpath|mktemp)$/;

/** Arguments of more than one word that may come back as a command in what another command prints. */
export const listNames = ([program = "", ...args]: Argv): string[] =>
  NAMERS.test(plainName(program)) ? args.filter((arg) => /\s/.test(arg)) : [];
