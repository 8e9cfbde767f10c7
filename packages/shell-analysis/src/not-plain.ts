import { posix } from "node:path";
import { plainName } from "./program-name.js";

/** Whether a program runs or loads what a variable with this value names. */
export function loads(name: string, value: string): boolean {
  if (value === "" || value === "/dev/null") return false;
  if (/OPT(?:ION)?S?$/.test(name))
    return OPTIONS.test(name) && /agent|-M|(?:require|import|loader|-r)[= ]?[^\s./=]{0,200}[./]/.test(value);
  return LOADING.test(name);
}

const OPTIONS = /^(?:NODE_OPTIONS|RUBYOPT|PERL5OPT|_?J\w*_(?:TOOL_)?OPTIONS)$/;

const LOADING =
  /^(?:(?:LD|DYLD)_(?:PRELOAD|AUDIT|INSERT_LIBRARIES)|BASH_ENV|ZDOTDIR|PROMPT_COMMAND|GCONV_PATH|GIT_(?:CONFIG\w*|DIR|EXEC_PATH|TEMPLATE_DIR)|PYTHON(?:STARTUP|HOME|BREAKPOINT)|PERL5DB|histchars|HISTCHARS|PIP_CONFIG_FILE|LESSOPEN|LESSCLOSE|APT_CONFIG|WGETRC|CURL_HOME|BASH_(?:ALIASES|CMDS|FUNC)\b.*|(?:dis_)?(?:functions|[gs]?aliases)\b.*|commands\b.*|nameddirs\b.*|VALGRIND_LIB|COMPILER_PATH|command_not_found_handler?|(?:READ)?NULLCMD)$/;

/** Programs that make the files that their arguments name, of what is known only at run time. */
const MAKERS =
  /^(?:cp|mv|ln|install|dd|curl|wget|sort|csplit|tar|unzip|patch|rsync|scp|cmake|busybox|g?awk|time|cpio|g?unzip|bunzip2|unxz|uniq|tee|touch|openssl|xxd|gpg|git|sed|perl)$/;

/** Names of the files that a command makes, or may make. */
export function listMadeFiles([program = "", ...args]: readonly string[]): string[] {
  const name = plainName(program);
  if (!MAKERS.test(name)) return [];
  if (/^(?:sed|perl)$/.test(name) && !args.some((arg) => /^-\w*i|^--in-place|\bw /.test(arg))) return [];
  if (/^g?awk$/.test(name) && !args.some((arg) => arg.includes(">"))) return [];
  const names = args.filter((arg) => arg !== "-").map((arg) => posix.basename(arg.replace(/^(?:--?[\w-]+=|\w+=)/, "")));
  return [...names, ...names.map((each) => each.replace(/\.(?:gz|bz2|xz)$/, ""))];
}

/** Files that programs do not execute. */
export const isProse = (path: string): boolean =>
  /(?<!CMakeLists)\.(?:md|markdown|txt|rst|adoc|html?|css|csv|svg|log|lock)$|(?:^|\/)(?:Dockerfile|Containerfile)[^/]*$/i.test(
    path,
  );

/** Files that programs run or read by themselves. */
export const isSettingsFile = (path: string): boolean =>
  /hooks\/|git(?:config|modules|attributes)$|\.ssh\/|(?:bash|zsh|vim|npm|curl|wget|psql)rc$|profile$|(?:^|\/)(?:GNU)?[Mm]akefile$|(?:^|\/)config$/.test(
    path,
  );

/** How a shell may read a script that the grammar reads without an error: further readings of it, and why there may be more. */
export function findMisreading(script: string): { readings: string[]; unclear: string | undefined } {
  const readings = [
    script.replace(LINE_STARTS, "\n"),
    script.replace(PATTERNS, "$1"),
    script.replace(/\\\n/g, ""),
  ].filter((text) => text !== script);
  const bare = script.replace(/'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?/g, "''");
  const unclear = ODD_BLANKS.test(script)
    ? "it has white space that shells do not take for white space"
    : ODD_END.test(script)
      ? "the end of a here-document is not found"
      : ZSH.test(bare) || ZSH_MODIFIER.test(script)
        ? "it is written in the language of zsh"
        : undefined;
  return { readings, unclear };
}

/** A line that begins with a backslash, which the grammar takes for the continuation of the line before. */
const LINE_STARTS = /\n(?:[ \t]*\\\n)+|\n[ \t]*\\(?=[^\n])/g;

/** `==` and `=~` outside of a test. */
const PATTERNS = /(?<!\[[^\]\n]*)(\s)(?:==|=~)(?=[ \n])/g;

const ODD_BLANKS = /[\f\v\r]|\\[ \t\r\f\v]*#|\\\r|\\[ \t]+(?:\n|$)/;

/** A here-document whose end the grammar may not find: not a plain name, bare or in quotes. */
const ODD_END = /(?<!<)<<(?!<)(?!-?[ \t]*(?:\\?[A-Za-z_]\w*|'[\w .-]+'|"[\w .-]+")(?:[ \t\n;)]|$))(?!\s*\d)/;

/** `$name:s/x/z/`, also between double quotes. */
const ZSH_MODIFIER = /\$\w+:[a-zA-Z&]\b/;

/** Glob qualifiers with code, flags of expansions, functions without a name, `=(…)`. */
const ZSH =
  /[\w*?./\]]\([^()\s]{0,40}?(?:e[^\w\s]|\+\w)|\$\{\(|\$\{[=~^]|\$[=~^]\w|\$\{\$|(?:^|[;&|\n({])[ \t]*(?:\(\)|function)\s*\{|(?:^|\s)=\(/;
