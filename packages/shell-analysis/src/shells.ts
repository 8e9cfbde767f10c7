import { guessIn, type NestedCommand, type NestedCommands, toScript } from "./nested-commands.js";
import { lookupName, plainName } from "./program-name.js";

const POSIX: ReadonlySet<string> = new Set(
  "bash sh zsh dash ksh mksh pdksh lksh oksh loksh ash hush posh yash rbash rzsh rksh bosh pbosh jsh mrsh gash osh ysh".split(
    " ",
  ),
);

/** Shells with a language of their own: their scripts are read as POSIX scripts, and the result counts as incomplete. */
const OTHERS: ReadonlySet<string> = new Set(
  "fish csh tcsh nu nushell xonsh elvish ion rc es murex scsh oil pwsh powershell cmd command.com".split(" "),
);

/** Programs that are not shells, although their name looks like it. */
const NO_SHELLS: ReadonlySet<string> = new Set(
  "ssh mosh rsh hash push publish refresh flush finish polish trash crash lsh autossh pssh pdsh wish tclsh".split(" "),
);

export const isShell = (program: string): boolean => POSIX.has(plainName(program)) || OTHERS.has(plainName(program));

/** What a shell runs; undefined for a program that is not a shell. */
export function unwrapShell(program: string, args: readonly string[]): NestedCommands | undefined {
  const plain = plainName(program);
  if (POSIX.has(plain) || /^\/proc\/[^/]+\/exe$/.test(program)) return unwrapPosix(args);
  if (OTHERS.has(plain)) return { ...unwrapUnknown(args), unclear: `\`${plain}\` has a language of its own` };
  const isLookalike = plain.endsWith("sh") && !plain.endsWith(".sh") && !NO_SHELLS.has(plain);
  if (!isLookalike || !args.some((arg) => /^-[a-z]*c/i.test(arg))) return undefined;
  return { ...unwrapUnknown(args), unclear: `\`${lookupName(program)}\` may be a shell that is not known` };
}

const unwrapUnknown = (args: readonly string[]): NestedCommands => ({
  inner: args.flatMap((arg) => (/\s/.test(arg) ? [toScript(arg)] : [])),
  guesses: [...guessIn(args), { kind: "input-script" }],
  unclear: undefined,
});

/** Options that some shell accepts without a value. */
const LONG_FLAGS =
  /^--?(?:login|norc|noprofile|posix|restricted|verbose|noediting|debugger|debug|interactive|no-?rcs|no-?globalrcs|help|version)$/;

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
    // With history expansion, or without comments, the grammar reads another script than the shell does.
    if (!/^[-+][a-zA-GI-Z0-9]+$/.test(option)) unknown ??= option;
    isScript ||= /^-\w*c/.test(option);
    isInput ||= /^-\w*[si]/.test(option);
    const values = option.match(/[oO]/g)?.length ?? 0;
    // Some shells take the text after the letter as its value, others the next argument.
    if (values > 1 || (values === 1 && (!/[oO]$/.test(option) || MISREAD.test(args[at + 1] ?? "")))) unknown ??= option;
    at += values;
  }
  const [operand, ...rest] = args.slice(at);
  const found: NestedCommand[] = isScript
    ? operand === undefined
      ? []
      : [toScript(operand, rest)]
    : isInput || operand === undefined
      ? [{ kind: "input-script" }]
      : [{ kind: "file", path: operand }];
  const unclear = unknown === undefined ? undefined : `an option of the shell is not known: \`${unknown}\``;
  return { inner: [...files, ...found], guesses: found[0]?.kind === "file" ? guessIn(rest) : [], unclear };
}

/** Settings with which a shell reads its text otherwise than the grammar does: history, comments that are commands. */
export const MISREAD =
  /^-\w*H|^history$|hist_?expand|bang_?hist|interactive_?comments|brace_?ccl|csh_?junkie|rc_?quotes|ignore_?braces/i;
