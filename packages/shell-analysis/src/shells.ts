import { posix } from "node:path";
import { MAX_GUESS_WORDS, MAX_GUESSES } from "./limits.js";
import { type NestedCommand, type NestedCommands, toScript, toSuffixes } from "./nested-commands.js";
import { type OptionTable, readOptions } from "./options.js";
import { lookupName, plainName } from "./program-name.js";
import { unwrapCmd, unwrapPowerShell } from "./windows-shells.js";

const POSIX_SHELLS =
  "bash sh zsh dash ksh mksh pdksh lksh oksh loksh ash hush posh yash rbash rzsh rksh bosh pbosh jsh mrsh gash osh ysh csh tcsh";

/** Shells with a language of their own: their scripts are read as POSIX scripts, and the result counts as incomplete. */
const OTHER_SHELLS = "nu nushell xonsh elvish ion rc es murex scsh oil";

const WINDOWS_SHELLS = "pwsh powershell cmd command.com";

/** Names of shells, as `plainName` gives them: in lower case, without directory, `.exe` and version. */
export const SHELLS: ReadonlySet<string> = new Set(`${POSIX_SHELLS} ${OTHER_SHELLS} ${WINDOWS_SHELLS} fish`.split(" "));

const POSIX: ReadonlySet<string> = new Set(POSIX_SHELLS.split(" "));

/** Programs that are not shells, although name and options look like it. */
const NO_SHELLS: ReadonlySet<string> = new Set(
  "ssh mosh rsh hash push publish refresh flush finish polish trash crash lsh autossh pssh pdsh wish tclsh".split(" "),
);

/** The program of the process that looks it up, which is a shell for a command of a script. */
export const isRunningShell = (program: string): boolean => /^\/proc\/[^/]+\/exe$/.test(posix.normalize(program));

/** What a shell runs; undefined for a program that is not a shell. */
export function unwrapShell(program: string, args: readonly string[]): NestedCommands | undefined {
  const name = lookupName(program);
  const plain = plainName(program);
  if (POSIX.has(name) || POSIX.has(plain) || isRunningShell(program)) return unwrapPosix(args);
  if (plain === "fish") return unwrapFish(args);
  if (plain === "pwsh" || plain === "powershell") return unwrapPowerShell(args);
  if (name === "cmd" || name === "command.com") return unwrapCmd(args);
  if (SHELLS.has(plain)) return { ...unwrapUnknown(args), unclear: `\`${name}\` has a language of its own` };
  return undefined;
}

/** The same for a program that is in no table, and has a name such as `foosh`; one with a script is not searched. */
export function unwrapLookalike(name: string, args: readonly string[]): NestedCommands | undefined {
  const plain = plainName(name);
  const hasScript = args.some((arg) => /^-[a-z]*c/i.test(arg));
  if (!plain.endsWith("sh") || plain.endsWith(".sh") || NO_SHELLS.has(plain)) return undefined;
  const runs = unwrapUnknown(args);
  if (hasScript) return { ...runs, unclear: `\`${name}\` may be a shell that is not known` };
  const files = args.slice(0, 1).map((path): NestedCommand => ({ kind: "file", path }));
  return { ...runs, guesses: [...runs.guesses, ...files] };
}

function unwrapUnknown(args: readonly string[]): NestedCommands {
  // Of more arguments, the suffixes say that there may be more.
  const scripts = args
    .slice(0, MAX_GUESSES)
    .flatMap((arg, at) => [
      toScript(arg, args.slice(at + 1, at + 1 + MAX_GUESS_WORDS)),
      toScript(arg.replace(/^-\w/, "")),
    ]);
  return { inner: [], guesses: [...scripts, ...toSuffixes(args), { kind: "input-script" }], unclear: undefined };
}

/** Options that some shell accepts without a value. */
const LONG_FLAGS =
  /^--?(?:login|norc|noprofile|posix|restricted|verbose|noediting|nolineediting|debugger|debug|dump-strings|dump-po-strings|pretty-print|protected|interactive|no-?rcs|no-?globalrcs|help|version|noenv|norcfile|noprofile)$/;

/** Options that take the next argument, a file that is read at startup. */
const LONG_FILES = /^--?(?:rcfile|init-file|profile)$/;

function unwrapPosix(args: readonly string[]): NestedCommands {
  const files: NestedCommand[] = [];
  let isScript = false;
  let isInput = false;
  let unknown: string | undefined;
  let at = 0;
  for (; at < args.length; at += 1) {
    const option = args[at] ?? "";
    if (option === "--" || option === "-") {
      at += 1;
      break;
    }
    if (!/^[-+]./s.test(option)) break;
    if (LONG_FLAGS.test(option)) continue;
    if (LONG_FILES.test(option)) {
      at += 1;
      files.push({ kind: "file", path: args[at] ?? "" });
      continue;
    }
    if (!/^[-+][a-zA-Z0-9]+$/.test(option)) unknown ??= option;
    if (/^-\w*c/.test(option) || /^--command/.test(option)) isScript = true;
    if (/^-\w*s/.test(option)) isInput = true;
    const values = /^[-+]\w+$/.test(option) ? (option.match(/[oO]/g)?.length ?? 0) : 0;
    // Some shells take the text after the letter as its value, others the next argument.
    if (values > 1 || (values === 1 && !/[oO]$/.test(option))) unknown ??= option;
    at += values;
  }
  const found = readOperands(args.slice(at), isScript, isInput);
  const runs: NestedCommands = { inner: [...files, ...found], guesses: [], unclear: undefined };
  if (unknown === undefined) return runs;
  const unclear = `an option of the shell is not known: \`${unknown}\``;
  return { ...runs, guesses: unwrapUnknown(args).guesses, unclear };
}

function readOperands([operand, ...rest]: readonly string[], isScript: boolean, isInput: boolean): NestedCommand[] {
  if (isScript) return operand === undefined ? [] : [toScript(operand, rest)];
  if (isInput || operand === undefined) return [{ kind: "input-script" }];
  return [{ kind: "file", path: operand }];
}

const FISH: OptionTable = {
  short: "c:C:d:D:f:o:p:ilnNPhv",
  long: "command= init-command= debug= debug-output= debug-stack-frames= features= profile= profile-startup= interactive login no-execute no-config private print-rusage-self print-debug-categories",
};

function unwrapFish(args: readonly string[]): NestedCommands {
  const { end, values, unknown } = readOptions(FISH, args);
  const scripts = values.filter(({ name }) => /^(?:c|C|command|init-command)$/.test(name));
  const isScript = values.some(({ name }) => name === "c" || name === "command");
  const [path] = args.slice(end);
  const inner: NestedCommand[] = scripts.map(({ value }) => toScript(value, args.slice(end - 1)));
  if (!isScript) inner.push(path === undefined ? { kind: "input-script" } : { kind: "file", path });
  if (unknown === undefined) return { inner, guesses: [], unclear: undefined };
  const unclear = `an option of the shell is not known: \`${args[unknown] ?? ""}\``;
  return { inner, guesses: unwrapUnknown(args).guesses, unclear };
}
