import { basename, dirname, join } from "node:path";
import { quoteString } from "@codex/starlark";
import { isStandardProgram, programName } from "../programs.js";
import type { NETWORK_PROTOCOLS } from "./rule.js";

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

/** A rule that allows a command, as it is saved. It allows no more than what a person was asked about. */
export interface AllowRule {
  /** The command, or a prefix (see `isSavedAsPrefix`) that allows all that begin so. */
  readonly words: readonly string[];
  /** The command stays in its sandbox: it was asked about there. */
  readonly keepsSandbox: boolean;
}

/** A rule that allows a host at every port, as it is saved. */
export interface AllowHostRule {
  readonly host: string;
  readonly protocol: (typeof NETWORK_PROTOCOLS)[number];
}

/** The line of a rule file. */
export function renderAllowRule(rule: AllowRule | AllowHostRule): string {
  if ("host" in rule) {
    const { host, protocol } = rule;
    return `network_rule(host=${quoteString(host)}, protocol=${quoteString(protocol)}, decision="allow")`;
  }
  const { words, keepsSandbox } = rule;
  const whole = isSavedAsPrefix(words) ? "" : ", whole=True";
  const sandbox = keepsSandbox ? ', sandbox="keep"' : "";
  return `prefix_rule(pattern=[${words.map(quoteString).join(", ")}], decision="allow"${whole}${sandbox})`;
}

/** Directory, beside the file of saved rules, of those with what Codex does not know, such as `whole`: it does not read it. */
export const WHOLE_RULES_DIRECTORY = "whole";

/** The file for a rule, given the one for those that Codex reads too. */
export const fileOfRule = (file: string, rule: AllowRule | AllowHostRule): string =>
  "host" in rule || (isSavedAsPrefix(rule.words) && !rule.keepsSandbox)
    ? file
    : join(dirname(file), WHOLE_RULES_DIRECTORY, basename(file));
