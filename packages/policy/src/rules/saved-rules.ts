import { findNestedCommands, type NestedCommand } from "@codex/shell-analysis";
import { programName } from "../programs.js";
import { isSavedAsPrefix } from "./allow-rule.js";

/** Programs that run what they read unless they are told what else to run. */
const READERS: ReadonlySet<string> = new Set(
  `python pythonw pypy ipython bpython py node nodejs tsx ts-node bun deno perl ruby irb jruby php php-cgi lua luajit rscript r julia tclsh wish
  expect osascript awk gawk mawk nawk groovy scala kotlin clojure clj elixir iex erl ghci ocaml guile racket sbcl clisp swipl raku
  crystal gdb lldb pwsh powershell cmd nu xonsh elvish tcsh qjs m4 ed ex vi vim nvim emacs sqlite3 psql mysql mariadb mongosh ftp sftp at
  batch parallel`.split(/\s+/),
);

/**
 * Why a rule that allows this must not be saved; undefined when it may be. One that is no prefix allows a whole command, which must then say
 * itself what it runs: not a shell, an interpreter or `xargs` that runs what it reads.
 */
export function findPrefixBan(words: readonly string[]): string | undefined {
  const [program = ""] = words;
  if (program === "") return "the prefix is empty";
  if (isSavedAsPrefix(words)) return undefined;
  const { inner, guesses } = findNestedCommands(words);
  const reads = readsItsProgram(words) || [...inner, ...guesses].some(readsInput);
  if (!reads) return undefined;
  return `\`${programName(program)}\` runs what it reads here; only a command that says all that it runs can be saved`;
}

function readsInput(command: NestedCommand): boolean {
  if (command.kind === "input-script") return true;
  if (command.kind === "input-arguments") return !isSavedAsPrefix(command.argv);
  return command.kind === "command" && findPrefixBan(command.argv) !== undefined;
}

/** Without an operand, with `-` or its other names, or with `-i` or `-s`, an interpreter goes on with its input. */
function readsItsProgram([program = "", ...words]: readonly string[]): boolean {
  const name = programName(program).toLowerCase();
  const isReader = READERS.has(name) || READERS.has(name.replace(/[-_.]?\d.*/s, ""));
  return isReader && (words.every((word) => /^-/.test(word)) || words.some((word) => INPUT.test(word)));
}

const INPUT = /^(?:-|-[a-zA-Z]*[is]|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/;
