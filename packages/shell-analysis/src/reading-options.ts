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
  const operand = args.findIndex((arg, at) => !/^[-+]/.test(arg) && !TAKES_VALUE.test(args[at - 1] ?? ""));
  const options = isShell && operand !== -1 ? args.slice(0, operand) : args;
  const isUnset = name === "unsetopt" || (name === "shopt" && options.some((arg) => /^-\w*u/.test(arg)));
  const isOff = (at: number) => isUnset || /^\+\w*[oO]$/.test(options[at - 1] ?? "");
  const hasHistory = options.some((arg, at) => /^(?:hist_?expand|bang_?hist)$/i.test(arg) && !isOff(at));
  const usesFlag = (isShell || name === "set") && options.some((arg) => /^-[a-zA-Z]*H/.test(arg));
  if (hasHistory || usesFlag) return "a shell puts words of its history into what it runs";
  const hasNoComments = options.some((arg, at) =>
    (isOff(at) ? /^interactive_?comments$/i : /^no_?interactive_?comments$/i).test(arg),
  );
  if (hasNoComments) return "a shell runs text that is a comment in other shells";
  if (!isShell || !options.some((arg) => /^-\w*i/.test(arg))) return undefined;
  if (variables.has("ENV")) return "a shell reads the file that `ENV` names at its start";
  const isMarked = input !== undefined && /[!^]|(?:^|\s)#(?!!)/m.test(input);
  return isMarked ? "an interactive shell treats `!`, `^` and `#` in its input specially" : undefined;
}

/** Options of shells whose value is the next word. */
const TAKES_VALUE = /^(?:[-+]\w*[oO]|--(?:rcfile|init-file|emulate))$/;
