import { posix } from "node:path";
import { isWrapper, SHELLS, unwrapCommand } from "../shell/wrappers.js";

/** Programs that run any script they are given; with a version at the end they are the same. */
export const INTERPRETERS: ReadonlySet<string> = new Set([
  ...["python", "pythonw", "pypy", "ipython", "py", "node", "nodejs", "bun", "deno", "tsx", "ts-node", "perl", "ruby"],
  ...["irb", "jruby", "php", "lua", "luajit", "rscript", "r", "julia", "tclsh", "expect", "osascript", "awk", "gawk"],
  ...["mawk", "groovy", "scala", "elixir", "erl", "ghci", "gdb", "lldb", "pwsh", "powershell", "cmd", "nu", "xonsh"],
]);

/** Words after an interpreter that say what it does and not what it runs. */
const EVAL_WORDS: ReadonlySet<string> = new Set(["run", "eval", "exec", "repl", "x"]);

/**
 * Why a rule that allows everything with this prefix must not be proposed; undefined when it may. A prefix is banned
 * when it leaves open what is run: an interpreter, a shell or a wrapper alone or with options only, and `git` alone.
 */
export function findPrefixBan(prefix: readonly string[]): string | undefined {
  const [program, ...rest] = prefix;
  if (program === undefined || program === "") return "the prefix is empty";
  const name = posix
    .basename(program)
    .replace(/\.exe$/i, "")
    .toLowerCase();
  if (SHELLS.has(name) || INTERPRETERS.has(name.replace(/[\d.]+$/, "") || name)) {
    const isOpen = rest.every((word) => /^[-+/]/.test(word) || EVAL_WORDS.has(word));
    return isOpen ? `\`${name}\` runs any script it is given` : undefined;
  }
  if (isWrapper(name)) return findWrapperBan(name, prefix);
  const isBareGit = name === "git" && (rest[0] ?? "-").startsWith("-");
  return isBareGit ? "`git` alone changes files, talks to other hosts and runs aliases" : undefined;
}

function findWrapperBan(name: string, prefix: readonly string[]): string | undefined {
  const inner = unwrapCommand(prefix);
  const commands = inner.flatMap((each) =>
    each.kind === "command" || each.kind === "input-arguments" ? [each.argv] : [],
  );
  const isOpen = commands.length === 0 || commands.length < inner.length;
  if (isOpen) return `\`${name}\` runs any command it is given`;
  return commands.map(findPrefixBan).find((ban) => ban !== undefined);
}
