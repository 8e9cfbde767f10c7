import { posix } from "node:path";
import { MAX_COPY_GUESSES } from "./limits.js";
import { plainName } from "./program-name.js";

type Argv = readonly string[];

const COPIERS = /^(?:cp|ln|install|mv|dd|rsync|scp|link|sort|curl|cmake|(?:update-)?alternatives)$/;

/** `command -v name` and the like print the path of a program. */
const LOCATORS = /^(?:command|which|type|whereis|where)$/;

/**
 * Programs that a script copies or links under another name: the program itself, and with the arguments that the other name is
 * started with. All are guesses: what is copied may be no program. `isOver`: there are more.
 */
export function listCopies(commands: readonly Argv[]): { copies: string[][]; isOver: boolean } {
  const copiers = commands.filter(([program = ""]) => COPIERS.test(plainName(program)));
  if (copiers.length === 0) return { copies: [], isOver: false };
  const copied = copiers.map(([, ...args]) => args.map((arg) => arg.replace(/^(?:if=|of=|file:\/\/)/, "")));
  const located = commands.flatMap(([program = "", ...args]) => (LOCATORS.test(plainName(program)) ? args : []));
  const names = located.filter((name) => !name.startsWith("-"));
  const uses = new Map<string, Argv[]>();
  for (const argv of commands) {
    const name = posix.basename(argv[0] ?? "");
    const others = uses.get(name);
    if (others === undefined) uses.set(name, [argv]);
    else others.push(argv);
  }
  const found = new Map<string, string[]>();
  for (const [sources, targets] of [
    [names, copied.flat()] as const,
    ...copied.map((paths) => [paths.filter((path) => path.includes("/")), paths] as const),
  ]) {
    const words = [
      [],
      ...[...new Set(targets.map((path) => posix.basename(path)))].flatMap((target) => uses.get(target) ?? []),
    ];
    for (const source of new Set(sources)) {
      for (const [, ...args] of words) {
        const copy = [source, ...args];
        found.set(JSON.stringify(copy), copy);
        if (found.size > MAX_COPY_GUESSES) return { copies: [...found.values()], isOver: true };
      }
    }
  }
  return { copies: [...found.values()], isOver: false };
}

/** Programs that write what they read, or another file, to a file that an argument names. */
export const WRITERS: ReadonlySet<string> = new Set("cp install dd tee sponge ln mv xxd".split(" "));

/** Programs whose arguments are names of files, which other commands print: `ln -s 'zap x' f; eval "$(readlink f)"`. */
const NAMERS = /^(?:mkdir|touch|ln|cp|mv|cd|pushd|dirname|basename|readlink|realpath|mktemp)$/;

/** Arguments of more than one word that may come back as a command in what another command prints. */
export const listNamedFiles = ([program = "", ...args]: Argv): string[] =>
  NAMERS.test(plainName(program)) ? args.filter((arg) => /\s/.test(arg)) : [];
