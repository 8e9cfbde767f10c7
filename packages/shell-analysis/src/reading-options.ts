import { plainName } from "./program-name.js";
import { SHELLS } from "./shells.js";
import type { Variables } from "./variables.js";

/** Why a shell may read its text otherwise than the grammar does: history expansion, comments that are commands, a startup file. */
export function judgeReading(
  [program = "", ...args]: readonly string[],
  input: string | undefined,
  variables: Variables,
): string | undefined {
  const name = plainName(program);
  const isShell = SHELLS.has(name);
  if (variables.has("HISTCHARS") || variables.has("histchars")) return "`HISTCHARS` changes what begins a comment";
  if (!isShell && !/^(?:set|shopt|setopt|unsetopt|emulate)$/.test(name)) return undefined;
  const operand = args.findIndex((arg, at) => !/^[-+]/.test(arg) && !/^[-+]\w*[oO]$/.test(args[at - 1] ?? ""));
  const options = isShell && operand !== -1 ? args.slice(0, operand) : args;
  const isOff = name === "unsetopt" || options.some((arg) => (name === "shopt" ? /^-\w*u/ : /^\+\w*[oO]/).test(arg));
  const hasHistory = options.some((arg) => /^(?:hist_?expand|bang_?hist)$/i.test(arg)) && !isOff;
  const usesFlag = (isShell || name === "set") && options.some((arg) => /^-[a-zA-Z]*H/.test(arg));
  if (hasHistory || usesFlag) return "a shell puts words of its history into what it runs";
  const isComment = (arg: string) => (isOff ? /^interactive_?comments$/i : /^no_?interactive_?comments$/i).test(arg);
  if (options.some(isComment)) return "a shell runs what comments are elsewhere";
  if (!isShell || !options.some((arg) => /^-\w*i/.test(arg))) return undefined;
  if (variables.has("ENV")) return "a shell reads the file that `ENV` names at its start";
  const isMarked = input !== undefined && /[!^]|(?:^|\s)#(?!!)/m.test(input);
  return isMarked ? "an interactive shell reads `!`, `^` and `#` in its input in a way of its own" : undefined;
}
