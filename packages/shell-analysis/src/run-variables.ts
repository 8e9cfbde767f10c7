import { posix } from "node:path";
import type { ScriptVisitor } from "./script-visitor.js";
import type { SyntaxTree } from "./syntax-tree.js";
import type { Variables } from "./variables.js";

/** Variables whose value other programs run. */
const RUN_VARIABLES =
  /^(?:\w*PAGER|\w*EDITOR|VISUAL|BROWSER|GIT_SSH|GIT_SSH_COMMAND|GIT_PROXY_COMMAND|GIT_EXTERNAL_DIFF|GIT_CONFIG_VALUE_\d+|\w*ASKPASS|PROMPT_COMMAND|RSYNC_RSH|RSYNC_CONNECT_PROG|CVS_RSH|SVN_SSH|LESSOPEN|LESSCLOSE|MANOPT|TAR_OPTIONS|FCEDIT|SHELL|CONFIG_SHELL|MAKEFLAGS|BASH_FUNC_.+%%|(?:BASH_(?:ALIASES|CMDS)|(?:dis_)?(?:functions|[gs]?aliases)|commands|nameddirs)\[.*|VIMINIT|EXINIT|command_not_found_handler?|(?:READ)?NULLCMD|HGMERGE|SVN_MERGE)$/i;

/** Variables whose value is expanded like text between double quotes. */
const EXPANDED_VARIABLES = /^(?:PS[0-4]|[RS]?PROMPT\d?|RPS\d|YASH_PS\d\w*|MAILPATH)$/;

/** Scripts that some program runs, now or later, because a variable has this value. */
export function listVariableScripts(name: string, value: string): string[] {
  if (RUN_VARIABLES.test(name))
    return [value.replace(/^!+|^\|+-?|^\(\)\s*\{|\}$/g, "").replace(/^--[\w-]+=/, ""), ...listExec(value)];
  if (name === "GIT_CONFIG_PARAMETERS") {
    return value.split("'").map((setting) => setting.replace(/^[^=!]*=/, "").replace(/^!/, ""));
  }
  if (EXPANDED_VARIABLES.test(name) && /[`$]/.test(value)) return [`: "${value.replaceAll('"', '\\"')}"`];
  return [];
}

/** `--checkpoint-action=exec=command` among the options that a variable adds. */
const listExec = (value: string): string[] => [...value.matchAll(/\bexec=(.+)$/gs)].map(([, script = ""]) => script);

/** Whether a variable names a file that a shell reads at startup. */
export const isStartFile = (name: string): boolean => /^(?:BASH_ENV|ENV|ZDOTDIR|RCFILE)$/.test(name);

/** Whether a path is a descriptor of the program that opens it: the same path is a different file for each program. */
export const isInherited = (path: string): boolean =>
  /^\/(?:dev\/(?:stdin|fd\/)|proc\/(?:self|thread-self|\$\$)\/)/.test(posix.normalize(path));

/** Whether a path may be the standard input, or another descriptor, of the program that opens it: also below the working directory. */
export const isStandardInput = (path: string): boolean =>
  /^(?:-|\d+|(?:.*\/)?(?:dev\/)?stdin|(?:.*\/)?fd\/[^/]+)$/.test(posix.normalize(path));

/** How a script exports variables to programs: the value of one in capitals, or one that it names, may be something that they run. */
const EXPORTS = /\bexport\b|\b(?:declare|typeset|set) -\w*[xa]|allexport/;
const EXPORTED = /\b(?:export|declare|typeset|local|readonly)\b([^;&|\n]*)/g;
const EXPORTS_ALL = /\bset -\w*a|allexport/;

/** Values of variables that programs, or later commands, may run. */
export function visitVariables(tree: SyntaxTree, variables: Variables, visitor: ScriptVisitor): void {
  const isExporting = EXPORTS.test(tree.script);
  const isAll = EXPORTS_ALL.test(tree.script);
  const named = new Set(Array.from(tree.script.matchAll(EXPORTED), ([, rest = ""]) => rest.split(/\W+/)).flat());
  for (const [name, values] of variables) {
    for (const value of values) {
      visitor.visitDeferred(value);
      visitor.visitVariable(name, value);
      if (isExporting && (isAll || named.has(name) || /^[A-Z]\w*$/.test(name))) visitor.visitText(value);
    }
  }
}
