import { unwrapGit } from "./git-commands.js";
import { MAX_COMMAND_LENGTH } from "./limits.js";
import { splitWords } from "./line-words.js";
import {
  isTooLong,
  type NestedCommand,
  type NestedCommands,
  NO_NESTED_COMMANDS,
  toCommand,
  toScript,
  toSuffixes,
} from "./nested-commands.js";
import { listOptionCommands } from "./option-commands.js";
import { type OptionTable, readOptions } from "./options.js";
import { PLAIN_PROGRAMS, QUIET_PROGRAMS } from "./plain-programs.js";
import { lookupName, plainName } from "./program-name.js";
import { SHELLS, unwrapLookalike, unwrapShell } from "./shells.js";
import { listToolGuesses } from "./tool-commands.js";
import { unwrapCmdlet } from "./windows-shells.js";
import { RUNNERS, SU_OPTIONS, WRAPPERS, type Wrapper } from "./wrapper-table.js";

export { SHELLS };

/** Everything that a command may run in turn, by the tables of programs; an unknown program may run any of its arguments. */
export function findNestedCommands(argv: readonly string[]): NestedCommands {
  const [program, ...args] = argv;
  if (program === undefined) return NO_NESTED_COMMANDS;
  if (isTooLong(argv)) return { ...NO_NESTED_COMMANDS, unclear: "the command is too long to be analyzed" };
  const runs = addGuesses(
    unwrapShell(program, args) ?? unwrapNamed(toKnownName(program), args),
    listRunScript(program, args),
  );
  // In zsh, `=name` expands to the path of the program.
  return program.startsWith("=") ? addInner(runs, [toCommand([program.replace(/^=+/, ""), ...args])]) : runs;
}

const INTERPRETERS = /^(?:python|pypy|node|nodejs|bun|deno|ruby|perl|php|tclsh)$/;

/** A wrapper that is started by its interpreter: `sh /usr/bin/fakeroot zap`, `python3 -m honcho run zap`. */
function listRunScript(program: string, args: readonly string[]): NestedCommand[] {
  const plain = plainName(program);
  if (!SHELLS.has(plain) && !INTERPRETERS.test(plain)) return [];
  const at = args.findIndex((arg) => /^[^-+]/.test(arg));
  const name = lookupName(args[at] ?? "").replace(/\.(?:[cm]?js|py|pl|rb|sh|phar)$/, "");
  const isRunner = [WRAPPERS, RUNNERS, SPECIAL].some((table) => table.has(name)) && /^\w{2}/.test(name);
  return isRunner && at < args.length - 1 ? [toCommand([name, ...args.slice(at + 1)])] : [];
}

/** `e`, the flag `e` of `s///`, or a script from a file. */
const RUNS_IN_SED = /^-\w*f|^--fi|(?:^|[\s;{}\d$!/,|#])e|[^\w\s][gpmiIM\d]*e[gpmiIM\d]*(?:$|[\s;}w])/;

/** Whether a program starts the user's shell where no command is named. */
export function startsShell(program: string): boolean {
  const name = toKnownName(program);
  return WRAPPERS.get(name)?.isShell === true || name === "su" || name === "runuser";
}

/** Whether a wrapper has options of its own that are not in a table: of any kind, or those of its applets. */
const isLoose = (name: string): boolean => {
  const { isLoose = false, ...others } = WRAPPERS.get(name) ?? {};
  return (isLoose && Object.keys(others).length > 0) || name === "busybox" || name === "toybox";
};

/** Whether options and input of the program may be code, in any language: true unless a table says otherwise. */
export function mayTakeCode(program: string, args: readonly string[]): boolean {
  const name = toKnownName(program);
  if (/^g?sed$/.test(name)) return args.some((arg) => RUNS_IN_SED.test(arg));
  const isShell = SHELLS.has(name) || SHELLS.has(plainName(name));
  return (
    !isShell &&
    (!WRAPPERS.has(name) || isLoose(name)) &&
    (!SPECIAL.has(name) || isLoose(name)) &&
    ![name, plainName(name)].some((each) => QUIET_PROGRAMS.has(each))
  );
}

/** GNU programs have a `g` prefix where other programs have their names. */
function toKnownName(program: string): string {
  const name = lookupName(program);
  const isKnown = (each: string) => WRAPPERS.has(each) || SPECIAL.has(each);
  if (isKnown(name)) return name;
  return [name.replace(/^g/, ""), plainName(name)].find(isKnown) ?? name;
}

function unwrapNamed(name: string, args: readonly string[]): NestedCommands {
  const special = SPECIAL.get(name)?.(args) ?? unwrapCmdlet(name, args);
  if (special !== undefined) return special;
  const carried = [...listOptionCommands(name, args), ...listScriptFiles(name, args)];
  const wrapper = WRAPPERS.get(name);
  if (wrapper !== undefined)
    return addGuesses(addInner(unwrapPlain(name, wrapper, args), carried), listToolGuesses(name, args));
  const words = RUNNERS.get(name);
  if (words !== undefined) return addGuesses(addInner(unwrapRunner(words, args), carried), listToolGuesses(name, args));
  if (LOADER.test(name)) return { inner: [], guesses: toSuffixes(args), unclear: undefined };
  const isPlain = carried.length > 0 || PLAIN_PROGRAMS.has(name) || PLAIN_PROGRAMS.has(plainName(name));
  if (isPlain) return { ...NO_NESTED_COMMANDS, inner: carried, guesses: listToolGuesses(name, args) };
  return unwrapLookalike(name, args) ?? { inner: [], guesses: guess(args), unclear: undefined };
}

/** The dynamic loader runs the program that it is given. */
const LOADER = /^(?:ld(?:-[\w-]+)?|ld-linux[\w-]*)\.so(?:\.\d+)?$/;

/** Makefiles: their recipes are scripts, and the text around them looks like unknown commands. */
function listScriptFiles(name: string, args: readonly string[]): NestedCommand[] {
  if (name !== "make" && name !== "gmake") return [];
  const { values } = readOptions({ short: "C:f:I:j::l::o:W:BdehiknpqrRsStvwE:", long: "file= makefile= eval=" }, args);
  return values.flatMap(({ name: option, value }): NestedCommand[] =>
    /^(?:f|file|makefile)$/.test(option) ? [{ kind: "file", path: value }] : [],
  );
}

const addInner = (runs: NestedCommands, inner: readonly NestedCommand[]): NestedCommands =>
  inner.length === 0 ? runs : { ...runs, inner: [...runs.inner, ...inner] };

const addGuesses = (runs: NestedCommands, guesses: readonly NestedCommand[]): NestedCommands =>
  guesses.length === 0 ? runs : { ...runs, guesses: [...runs.guesses, ...guesses] };

/** Any suffix of the arguments may be a command, and an argument with white space a script. */
function guess(args: readonly string[]): NestedCommand[] {
  const scripts = args.filter((arg) => /\s/.test(arg)).map((arg) => toScript(arg.replace(/^--?[\w-]+=/, "")));
  return [...toSuffixes(args), ...scripts];
}

function unwrapRunner(words: readonly string[], args: readonly string[]): NestedCommands {
  // Some accept the beginning of a word: `ip netns ex`, `npm explor`.
  const isWord = (arg: string) => words.some((word) => word === arg || (arg.length > 1 && word.startsWith(arg)));
  const at = words.includes("*") ? -1 : args.findIndex(isWord);
  if (at === -1 && !words.includes("*")) return NO_NESTED_COMMANDS;
  return { inner: [], guesses: guess(args.slice(at + 1)), unclear: undefined };
}

function unwrapPlain(name: string, wrapper: Wrapper, args: readonly string[]): NestedCommands {
  if (wrapper.isInput === true) return { ...NO_NESTED_COMMANDS, inner: [{ kind: "input-script" }] };
  const { at, values, unknown } = skipOptions(wrapper, args);
  const scripts = values.filter((option) => wrapper.scripts?.split(" ").includes(option.name) === true);
  const inner: NestedCommand[] = scripts.map(({ value }) => toScript(value));
  const command = args.slice(at);
  if (command.length > 0) inner.push(toCommand(command));
  else if (wrapper.isShell === true) inner.push({ kind: "input-script" });
  // If the first operand is missing, the command is one place earlier.
  if ((wrapper.operands ?? 0) > 0 && command.length > 0) inner.push(toCommand(args.slice(at - 1)));
  if (wrapper.isJoined === true && command.length > 0) inner.push(toScript(command.join(" ")));
  // An operand may be optional, or be the `-` that was taken for an option.
  const isOptional = command.length === 0 && (wrapper.operands ?? 0) > 0 && wrapper.isJoined !== true;
  const last = isOptional && args.length > 0 ? [toCommand(args.slice(-1))] : [];
  if (unknown === undefined) return { inner, guesses: last, unclear: undefined };
  const guesses = [...inner, ...guess(args.slice(unknown + 1))];
  const unclear = `\`${name}\` has an option that is not known: \`${args[unknown] ?? ""}\``;
  return { inner: [], guesses, unclear: wrapper.isLoose === true ? undefined : unclear };
}

/** The index of the command after options, assignments and operands. */
function skipOptions(wrapper: Wrapper, args: readonly string[]) {
  const isSkipped = wrapper.hasAssignments === true ? (arg: string) => /^\w[^=]*=/.test(arg) : undefined;
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

type Unwrap = (args: readonly string[]) => NestedCommands;

const sure =
  (unwrap: (args: readonly string[]) => readonly NestedCommand[]): Unwrap =>
  (args) => ({
    ...NO_NESTED_COMMANDS,
    inner: unwrap(args),
  });

/** Without the `--` that ends options of a builtin, and without these options. */
const withoutOptions = (args: readonly string[], options = /^(?!)/): readonly string[] => {
  const from = args.findIndex((arg) => !options.test(arg));
  const rest = from === -1 ? [] : args.slice(from);
  return rest[0] === "--" ? rest.slice(1) : rest;
};

/** Commands with rules of their own; args without the program. */
const SPECIAL: ReadonlyMap<string, Unwrap> = new Map(
  Object.entries<Unwrap>({
    env: unwrapEnv,
    su: unwrapSu,
    runuser: unwrapSu,
    xargs: unwrapXargs,
    git: unwrapGit,
    find: sure(unwrapFind),
    fd: sure(unwrapFd),
    fdfind: sure(unwrapFd),
    eval: sure((args) => [toScript(withoutOptions(args).join(" "))]),
    trap: sure((args) => [toScript(withoutOptions(args)[0] ?? "")]),
    emulate: sure((args) => listValues(args, /^-\w*c$/).map((script) => toScript(script))),
    sched: sure((args) => [toScript(args.slice(1).join(" "))]),
    // In csh, the words after the name.
    alias: sure((args) =>
      [...args.map((arg) => arg.slice(arg.indexOf("=") + 1)), args.slice(1).join(" ")].map((each) => toScript(each)),
    ),
    abbr: sure((args) => args.map((arg) => toScript(arg))),
    source: sure(unwrapSource),
    ".": sure(unwrapSource),
    jobs: sure((args) => (args[0] === "-x" ? [toCommand(args.slice(1))] : [])),
    hash: sure((args) =>
      [...listValues(args, /^-\w*p$/), ...args.flatMap((arg) => /^\w+=(.+)/s.exec(arg)?.[1] ?? [])].map((path) =>
        toCommand([path]),
      ),
    ),
    coproc: sure((args) => [0, 1, 2].map((from) => toCommand(args.slice(from)))),
    command: sure((args) => (/^-\w*[vV]/.test(args[0] ?? "") ? [] : [toCommand(withoutOptions(args, /^-p+$/))])),
    mapfile: sure((args) => listValues(args, /^-\w*C$/).map((script) => toScript(script))),
    readarray: sure((args) => listValues(args, /^-\w*C$/).map((script) => toScript(script))),
    complete: sure((args) => args.map((arg) => toScript(arg))),
    compgen: sure((args) => listValues(args, /^-\w*[CW]$/).map((script) => toScript(script))),
    bind: sure((args) =>
      listValues(args, /^-\w*x$/).map((binding) => toScript(binding.replace(/^[^:]*:/, "").replaceAll('"', ""))),
    ),
    parallel: unwrapParallel,
    fc: unwrapHistory,
    history: sure((args) => (/^-\w*s/.test(args[0] ?? "") ? [toScript(args.slice(1).join(" "))] : [])),
  }),
);

/** It runs earlier commands again, or commands that were read into the history. */
function unwrapHistory(args: readonly string[]): NestedCommands {
  return /^-\w*l/.test(args[0] ?? "")
    ? NO_NESTED_COMMANDS
    : { ...NO_NESTED_COMMANDS, unclear: "`fc` runs commands from the history" };
}

/** Some shells read their input where no file is named. */
function unwrapSource(args: readonly string[]): NestedCommand[] {
  // In some shells it has options, one of which takes a value: then the first or the second operand is the file.
  const operands = withoutOptions(args, /^-[a-zA-Z]/);
  const paths = operands.slice(0, /^-[a-zA-Z]/.test(args[0] ?? "") ? 2 : 1);
  return paths.length === 0 ? [{ kind: "input-script" }] : paths.map((path) => ({ kind: "file", path }));
}

/** Values of options, attached or not; `option` ends with the letter. */
function listValues(args: readonly string[], option: RegExp): string[] {
  const attached = new RegExp(`${option.source.replace(/\$$/, "")}(.+)$`, "s");
  return args.flatMap((arg, at) => (option.test(arg) ? (args[at + 1] ?? []) : (attached.exec(arg)?.[1] ?? [])));
}

const ENV: OptionTable = {
  short: "i0vu:C:S:P:a:L:U:",
  long: "ignore-environment null debug unset= chdir= split-string= argv0= block-signal? default-signal? ignore-signal? list-signal-handling",
};

function unwrapEnv(args: readonly string[]): NestedCommands {
  const isSkipped = (arg: string) => /^[^-=][^=]*=|^=/.test(arg);
  const { end, values, unknown } = readOptions(ENV, args, { isSkipped, hasDash: true });
  const command = args.slice(end);
  // The words of the split value replace the option, before further arguments.
  const strings = values.filter(({ name }) => name === "S" || name === "split-string");
  const split = strings.slice(0, MAX_SPLIT_STRINGS);
  const inner = split.map(({ value }) => toCommand(["env", ...splitString(value), ...command]));
  if (command.length > 0) inner.push(toCommand(command));
  if (unknown === undefined) {
    const isFilled = split.some(({ value }) => value.includes("${"));
    const filled = isFilled ? "`env` puts a variable into the command that it splits" : undefined;
    const isMore = strings.length > split.length;
    return { ...NO_NESTED_COMMANDS, inner, unclear: isMore ? "`env` splits many strings" : filled };
  }
  const unclear = `\`env\` has an option that is not known: \`${args[unknown] ?? ""}\``;
  return { inner: [], guesses: [...inner, ...guess(args.slice(unknown + 1))], unclear };
}

/** Most strings of one `env` that are split. */
const MAX_SPLIT_STRINGS = 8;

function splitString(value: string): string[] {
  const line = value.replace(/\\[_tnfrv]/g, " ").replace(/\\c[\s\S]*/, "");
  return splitWords(line) ?? line.split(/\s+/).filter((word) => word !== "");
}

/** A user, then arguments of a shell; with `-u` a command. Options may be anywhere. */
function unwrapSu(args: readonly string[]): NestedCommands {
  const operands: string[] = [];
  const values: { name: string; value: string }[] = [];
  let unknown: string | undefined;
  let isUser = false;
  for (let rest = args; rest.length > 0; ) {
    const read = readOptions(SU_OPTIONS, rest, { hasDash: true });
    values.push(...read.values);
    if (read.unknown !== undefined) unknown ??= rest[read.unknown];
    isUser ||= read.values.some(({ name }) => name === "u" || name === "user");
    const isOver = isUser || rest[read.end - 1] === "--";
    operands.push(...rest.slice(read.end, isOver ? rest.length : read.end + 1));
    rest = isOver ? [] : rest.slice(read.end + 1);
  }
  const getValue = (...names: string[]) => values.findLast(({ name }) => names.includes(name))?.value;
  const shell = getValue("s", "shell");
  const [, ...shellArgs] = operands;
  const scripts = values.filter(({ name }) => /^(?:c|command|session-command)$/.test(name));
  const inner: NestedCommand[] = scripts.map(({ value }) => toScript(value, shellArgs));
  if (getValue("u", "user") !== undefined) inner.push(toCommand(operands));
  else if (shell !== undefined)
    inner.push(toCommand([shell, ...scripts.flatMap(({ value }) => ["-c", value]), ...shellArgs]));
  else if (scripts.length === 0) inner.push(toCommand(["sh", ...shellArgs]));
  if (unknown === undefined) return { ...NO_NESTED_COMMANDS, inner };
  return { inner, guesses: guess(args), unclear: `\`su\` has an option that is not known: \`${unknown}\`` };
}

function unwrapFind(args: readonly string[]): NestedCommand[] {
  const inner: NestedCommand[] = [];
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(args[at] ?? "")) continue;
    let end = at + 1;
    while (end < args.length && args[end] !== ";" && args[end] !== "+") end += 1;
    inner.push(toCommand(args.slice(at + 1, end)));
    at = end;
  }
  return inner;
}

function unwrapFd(args: readonly string[]): NestedCommand[] {
  const at = args.findIndex((arg) => /^(?:-[a-zA-Z]*[xX]|--exec|--exec-batch)$/.test(arg));
  const attached = args.flatMap((arg) => /^(?:-[a-zA-Z]*?[xX]|--exec(?:-batch)?=)(.+)$/s.exec(arg)?.[1] ?? []);
  return [...(at === -1 ? [] : [toCommand(args.slice(at + 1))]), ...attached.map((script) => toScript(script))];
}

const XARGS: OptionTable = {
  short: "0a:d:E:e::I:i::J:L:l::n:oP:pR:rS:s:tx",
  long: "null arg-file= delimiter= eof? replace? max-lines= max-args= open-tty max-procs= interactive process-slot-var= no-run-if-empty max-chars= show-limits verbose exit",
};

function unwrapXargs(args: readonly string[]): NestedCommands {
  const { end, values, unknown } = readOptions(XARGS, args);
  const argv = args.slice(end);
  const replaced = values.findLast(({ name }) => /^(?:I|J|i|replace)$/.test(name));
  const placeholder = replaced === undefined ? undefined : replaced.value || "{}";
  const inner: NestedCommand[] =
    argv.length === 0 ? [] : [toCommand(argv), { kind: "input-arguments", argv, placeholder }];
  if (unknown === undefined) return { ...NO_NESTED_COMMANDS, inner };
  const unclear = `\`xargs\` has an option that is not known: \`${args[unknown] ?? ""}\``;
  return { inner: [], guesses: [...inner, ...guess(args.slice(unknown + 1))], unclear };
}

/** Its command is a script; without one each line or argument is. */
function unwrapParallel(args: readonly string[]): NestedCommands {
  const wrapper = WRAPPERS.get("parallel") ?? {};
  const at = args.findIndex((arg) => /^::::?\+?$/.test(arg));
  const sources = at === -1 ? [] : args.slice(at + 1);
  const before = at === -1 ? args : args.slice(0, at);
  const runs = unwrapPlain("parallel", wrapper, args);
  const whole = before.join(" ");
  const isMuch = sources.length * whole.length > MAX_COMMAND_LENGTH;
  const joined = isMuch ? [] : sources.map((source) => toScript(`${whole} ${source}`));
  const inner: NestedCommand[] = [...runs.inner, { kind: "input-script" }];
  if (isMuch) return { ...runs, inner, unclear: "`parallel` runs a long command with many arguments" };
  return { ...runs, inner, guesses: [...runs.guesses, ...sources.map((source) => toScript(source)), ...joined] };
}
