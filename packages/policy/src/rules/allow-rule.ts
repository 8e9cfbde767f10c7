import { basename, dirname, join } from "node:path";
import { quoteString } from "@codex/starlark";
import { isStandardProgram, programName } from "../programs.js";

/** Whether a saved rule is a prefix, and allows whatever follows it; otherwise it allows this one command. */
export const isSavedAsPrefix = ([program = ""]: readonly string[]): boolean =>
  isStandardProgram(program) && PREFIX_PROGRAMS.has(programName(program));

/**
 * Programs that run nothing else, whatever their arguments, and change no file but those that `mkdir` and `touch` create: a rule for them may
 * be a prefix. Not `uniq`, `xxd`, `shuf`, `tree` and `base64`: an operand or an option names a file that they overwrite.
 */
const PREFIX_PROGRAMS: ReadonlySet<string> = new Set(
  `arch b2sum basename cal cat cksum cmp column comm cut date df diff dirname du echo expand expr false fmt fold free grep
  groups head hexdump hostid id join jq locale logname ls lsblk lscpu lsmem lsusb md5sum mkdir nl nproc numfmt od paste
  pgrep pr printenv printf ps pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum sleep stat
  sum tac tail test touch tr true tsort tty uname unexpand uptime users wc whereis which who whoami`.split(/\s+/),
);

/** The line that allows this command, or with a prefix (see `isSavedAsPrefix`) all that begin so. */
export function renderAllowRule(prefix: readonly string[]): string {
  const whole = isSavedAsPrefix(prefix) ? "" : ", whole=True";
  return `prefix_rule(pattern=[${prefix.map(quoteString).join(", ")}], decision="allow"${whole})`;
}

/** Directory, beside the file of saved prefixes, of rules for whole commands: Codex does not know `whole`, and does not read it. */
export const WHOLE_RULES_DIRECTORY = "whole";

/** The file for a rule, given the one for prefixes. */
export const fileOfRule = (file: string, prefix: readonly string[]): string =>
  isSavedAsPrefix(prefix) ? file : join(dirname(file), WHOLE_RULES_DIRECTORY, basename(file));
