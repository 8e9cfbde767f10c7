import {
  guessIn,
  isTooLong,
  type NestedCommand,
  type NestedCommands,
  NO_NESTED_COMMANDS,
  runs,
  toCommand,
  toScript,
} from "./nested-commands.js";
import { type OptionTable, readOptions } from "./options.js";
import { isPlainProgram } from "./plain-programs.js";
import { lookupName, plainName } from "./program-name.js";
import { MISREAD, unwrapShell } from "./shells.js";
import { isUnknown, UNKNOWN } from "./unknown.js";
import { WRAPPERS, type Wrapper } from "./wrapper-table.js";

/** Everything that a command may run in turn, by the tables of programs; an unknown program may run any of its arguments. */
export function findNestedCommands(argv: readonly string[]): NestedCommands {
  const [program, ...args] = argv;
  if (program === undefined) return NO_NESTED_COMMANDS;
  if (isTooLong(argv)) return { ...NO_NESTED_COMMANDS, unclear: "the command is too long to be analyzed" };
  // In zsh, `=name` expands to the path of the program.
  if (/^=./.test(program)) return runs(toCommand([program.replace(/^=+/, ""), ...args]));
  const shell = unwrapShell(program, args);
  if (shell !== undefined) return shell;
  const name = lookupName(program);
  // GNU programs have a `g` prefix where other programs have their names.
  const known = [name, plainName(name), name.replace(/^g/, "")].find((each) => SPECIAL.has(each) || WRAPPERS.has(each));
  if (known === undefined) {
    const from = isPlainProgram(name) ? args.findIndex((arg) => RUN_WORDS.test(arg)) + 1 : 0;
    const runsNothing = isPlainProgram(name) && from === 0;
    return runsNothing ? NO_NESTED_COMMANDS : { ...NO_NESTED_COMMANDS, guesses: guessIn(args.slice(from)) };
  }
  const special = SPECIAL.get(known);
  return special === undefined ? unwrap(name, WRAPPERS.get(known) ?? {}, args) : special(args);
}

/** Words after which a tool runs what follows: `docker run`, `uv run`, `npm exec --`. */
const RUN_WORDS =
  /^(?:run|exec|x|dlx|shell|ssh|tool|debug|do|develop|rsh|compose|util|sh|local|emulators:exec|use|-E|set|--)$/;

/** Whether the tables say what the program runs: what else is among its arguments is no code. */
export const isWrapper = (program: string): boolean =>
  unwrapShell(program, []) !== undefined || WRAPPERS.has(lookupName(program)) || SPECIAL.has(lookupName(program));

function unwrap(name: string, wrapper: Wrapper, args: readonly string[]): NestedCommands {
  const { at, values, unknown } = skipOptions(wrapper, args);
  const scripts = values.filter((option) => wrapper.scripts?.split(" ").includes(option.name) === true);
  const inner: NestedCommand[] = scripts.map(({ value }) => toScript(value));
  const command = args.slice(at);
  if (command.length > 0) inner.push(toCommand(command));
  else if (wrapper.isShell === true && scripts.length === 0) inner.push({ kind: "input-script" });
  // If the first operand is missing, the command is one place earlier.
  if ((wrapper.operands ?? 0) > 0) {
    const earlier = args.slice(command.length > 0 ? at - 1 : -1);
    if (earlier.length > 0) inner.push(toCommand(earlier));
  }
  // Words with none of a shell's characters are the same command again.
  const joined = [...scripts.map(({ value }) => value), ...command];
  if (wrapper.isJoined === true && joined.some((word) => /[^\w./:@%+,=-]/.test(word)))
    inner.push(toScript(joined.join(" ")));
  const isFilled = name === "env" && scripts.some(({ value }) => /[$\\]/.test(value));
  if (isFilled) return { ...runs(...inner), unclear: "`env` changes the words of the command that it splits" };
  if (unknown === undefined) return runs(...inner);
  const unclear = `\`${name}\` has an option that is not known: \`${args[unknown] ?? ""}\``;
  return { inner: [], guesses: [...inner, ...guessIn(args.slice(unknown + 1))], unclear };
}

/** The index of the command after options, assignments and operands. */
function skipOptions(wrapper: Wrapper, args: readonly string[]) {
  const isSkipped = wrapper.hasAssignments === true ? (arg: string) => /^[^-=][^=]*=|^=/.test(arg) : undefined;
  const read = readOptions(wrapper, args, { isSkipped, hasDash: true });
  let { end: at, unknown } = read;
  const values = [...read.values];
  for (let operands = wrapper.operands ?? 0; operands > 0 && at < args.length; operands -= 1) {
    at += 1;
    if (wrapper.isMixed !== true) continue;
    const more = readOptions(wrapper, args.slice(at));
    values.push(...more.values);
    if (more.unknown !== undefined) unknown ??= at + more.unknown;
    at += more.end;
  }
  return { at, values, unknown };
}

/** Commands with rules of their own; args without the program. */
const SPECIAL: ReadonlyMap<string, (args: readonly string[]) => NestedCommands> = new Map(
  Object.entries<(args: readonly string[]) => NestedCommands>({
    git: unwrapGit,
    xargs: unwrapXargs,
    find: unwrapFind,
    fd: unwrapFd,
    fdfind: unwrapFd,
    eval: (args) => runs(toScript((args[0] === "--" ? args.slice(1) : args).join(" "))),
    trap: ([first = "", second = ""]) => runs(toScript(first === "--" ? second : first)),
    alias: (args) =>
      runs(...args.map((arg) => toScript(arg.slice(arg.indexOf("=") + 1))), toScript(args.slice(1).join(" "))),
    source: unwrapSource,
    ".": unwrapSource,
    command: (args) =>
      /^-\w*[vV]/.test(args[0] ?? "") ? NO_NESTED_COMMANDS : unwrap("command", WRAPPERS.get("command") ?? {}, args),
    set: unwrapSet,
    shopt: unwrapSet,
    setopt: unwrapSet,
    unsetopt: unwrapSet,
    emulate: unwrapSet,
    coproc: (args) => ({
      ...runs(...[0, 1].map((from) => toCommand(args.slice(from)))),
      unclear: "a coprocess runs what other commands print",
    }),
    parallel: (args) => ({
      ...runs({ kind: "input-script" }),
      guesses: guessIn(args),
      unclear: args.includes(":::") ? undefined : "`parallel` makes commands of what it reads",
    }),
    fc: (args) =>
      /^-\w*l/.test(args[0] ?? "")
        ? NO_NESTED_COMMANDS
        : { ...NO_NESTED_COMMANDS, unclear: "`fc` runs commands from the history" },
  }),
);

function unwrapSource(args: readonly string[]): NestedCommands {
  // In some shells it has options, one of which takes a value.
  const operands = args.filter((arg) => !/^-[a-zA-Z-]/.test(arg));
  return operands.length === 0
    ? runs({ kind: "input-script" })
    : runs(...operands.slice(0, 2).map((path): NestedCommand => ({ kind: "file", path })));
}

/** Its operands become the positional parameters, which a script may run. */
function unwrapSet(args: readonly string[]): NestedCommands {
  const at = args.findIndex((arg) => arg === "--" || !/^[-+]/.test(arg));
  const operands = at === -1 ? [] : args.slice(at);
  const misread = args.find((arg) => MISREAD.test(arg));
  const unclear =
    misread !== undefined
      ? `\`${misread}\` changes how the shell reads the script`
      : operands.some((arg) => isUnknown(arg) || /[*?]/.test(arg))
        ? "parameters of the script are known only at run time"
        : undefined;
  return { ...NO_NESTED_COMMANDS, guesses: operands.length === 0 ? [] : guessIn(operands), unclear };
}

function unwrapFind(args: readonly string[]): NestedCommands {
  const inner: NestedCommand[] = [];
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(args[at] ?? "")) continue;
    let end = at + 1;
    while (end < args.length && args[end] !== ";" && args[end] !== "+") end += 1;
    inner.push(toCommand(args.slice(at + 1, end)));
    at = end;
  }
  return runs(...inner);
}

function unwrapFd(args: readonly string[]): NestedCommands {
  const at = args.findIndex((arg) => /^(?:-[a-zA-Z]*[xX]|--exec|--exec-batch)$/.test(arg));
  const attached = args.flatMap((arg) => /^(?:-[a-zA-Z]*?[xX]|--exec(?:-batch)?=)(.+)$/s.exec(arg)?.[1] ?? []);
  return runs(...(at === -1 ? [] : [toCommand(args.slice(at + 1))]), ...attached.map((script) => toScript(script)));
}

const XARGS: OptionTable = {
  short: "0a:d:E:e::I:i::J:L:l::n:oP:pR:rS:s:tx",
  long: "null arg-file= delimiter= eof? replace? max-lines= max-args= open-tty max-procs= interactive process-slot-var= no-run-if-empty max-chars= show-limits verbose exit",
};

function unwrapXargs(args: readonly string[]): NestedCommands {
  const { end, values, unknown } = readOptions(XARGS, args);
  const replaced = values.findLast(({ name }) => /^(?:I|J|i|replace)$/.test(name));
  const placeholder = replaced === undefined ? undefined : replaced.value || "{}";
  const argv = args.slice(end).map((arg) => (arg === placeholder ? arg + UNKNOWN : arg));
  const inner = argv.length === 0 ? [] : [toCommand(argv)];
  if (argv.length > 0 && placeholder === undefined) inner.push({ kind: "input-arguments", argv });
  if (unknown === undefined) return runs(...inner);
  const unclear = `\`xargs\` has an option that is not known: \`${args[unknown] ?? ""}\``;
  return { inner: [], guesses: [...inner, ...guessIn(args.slice(unknown + 1))], unclear };
}

/** Options of `git` itself that take the next argument. */
const GIT_VALUES = /^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--attr-source)$/;

/** Options, settings and verbs with which `git` runs what they name, or what files that they name say. */
const GIT_RUNS =
  /^--(?:exe|git-dir|config-env|templ|upl|rece|ext|open-f|\w+-filter|setup)|^-[xuO]$|^alias\.|path|command|cmd|pager|editor|hook|include|protocol|helper|program|insteadof|fsmonitor|textconv|driver|template|askpass|sequence|external|tool|\bext::/i;

/** Settings and options that name files of settings or programs, or let an address be a program. */
const GIT_LOADS =
  /include|hookspath=(?!\/dev\/null)|template|insteadof|protocol\.ext|exec-path=.|config-env|git-dir=?(?![=/$~])/i;

const GIT_OPTIONS =
  /^(?:-[pPvhCc]|--(?:paginate|no-pager|bare|no-replace-objects|no-lazy-fetch|no-optional-locks|no-advice|\w+-pathspecs|html-path|man-path|info-path|version|help|exec-path|git-dir|work-tree|namespace|config-env|super-prefix|attr-source|list-cmds)(?:=.*)?)$/s;

const GIT_VERBS =
  /^(?:bisect|config|submodule|apply|am|filter-branch|difftool|mergetool|for-each-repo|remote-ext|send-email|daemon|instaweb|web--browse|fast-import|mailinfo)$/;

function unwrapGit(args: readonly string[]): NestedCommands {
  let at = 0;
  const settings: string[] = [];
  for (; (args[at] ?? "").startsWith("-"); at += 1) {
    settings.push(args[at] ?? "");
    if (!GIT_VALUES.test(args[at] ?? "")) continue;
    at += 1;
    settings.push(args[at] ?? "");
  }
  const [verb, ...rest] = args.slice(at);
  if (verb === undefined) return NO_NESTED_COMMANDS;
  // A rule for `git push` also applies with options between the two words.
  const inner = at > 0 ? [toCommand(["git", verb, ...rest])] : [];
  const named = settings.filter(
    (each, index) => (settings[index - 1] === "-c" || each.startsWith("--")) && runsSetting(each),
  );
  const unread =
    verb === "config" || verb === "clone" || verb === "init" ? rest.find((arg) => GIT_LOADS.test(arg)) : undefined;
  const loading = named.find((each) => GIT_LOADS.test(each)) ?? unread;
  const unknown = settings.find(
    (each, index) => /^-/.test(each) && !GIT_OPTIONS.test(each) && settings[index - 1] !== "-c",
  );
  const unclear =
    loading !== undefined
      ? `\`git\` runs or reads what \`${loading}\` names`
      : unknown === undefined
        ? undefined
        : `\`git\` has an option that is not known: \`${unknown}\``;
  return { inner, guesses: runsArguments(args) ? guessGit(args) : [], unclear };
}

const runsSetting = (text: string): boolean => GIT_RUNS.test(text.split("=", 1)[0] ?? "");

/** Whether some of the arguments of `git` may be commands. */
export const runsArguments = (args: readonly string[]): boolean =>
  args.some((arg, at) => {
    if (GIT_VERBS.test(arg) || /::/.test(arg)) return true;
    return (/^-|^alias\./.test(arg) || args[at - 1] === "-c") && runsSetting(arg) && !arg.endsWith("=/dev/null");
  });

/** Values of options and settings: scripts, and words behind those of `git` itself. */
const guessGit = (args: readonly string[]): NestedCommand[] => [
  ...guessIn(args),
  ...args.map((arg) =>
    toScript(
      arg
        .replace(/^-{1,2}[\w-]+=/, "")
        .replace(/^[\w.-]+=/, "")
        .replace(/^!/, ""),
    ),
  ),
  ...args.flatMap((arg, at) =>
    /^alias\./.test(arg) ? [toCommand(["git", ...(arg.split("=", 2)[1] ?? args[at + 1] ?? "").split(" ")])] : [],
  ),
];
