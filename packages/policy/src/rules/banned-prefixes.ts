import { posix } from "node:path";
import { findNestedCommands } from "@codex/shell-analysis";
import {
  BUILD_TOOLS,
  isWrapper,
  listOptionCommands,
  listSettingFiles,
  listToolSettings,
  SHELLS,
} from "@codex/shell-analysis/programs";
import { MAX_PREFIX_READINGS } from "./limits.js";
import { getRunnerForms, type RunnerForm } from "./runners.js";

/** Programs that run any script they are given; a version at the end of the name makes no difference. */
const INTERPRETERS: ReadonlySet<string> = new Set([
  ...["python", "pythonw", "pypy", "ipython", "bpython", "py", "node", "nodejs", "tsx", "ts-node", "perl", "ruby"],
  ...["irb", "jruby", "php", "lua", "luajit", "rscript", "r", "julia", "tclsh", "wish", "expect", "osascript"],
  ...["awk", "gawk", "mawk", "nawk", "groovy", "scala", "kotlin", "clojure", "clj", "bb", "elixir", "iex", "erl"],
  ...["ghci", "runghc", "runhaskell", "ocaml", "guile", "racket", "sbcl", "clisp", "swipl", "raku", "crystal", "nim"],
  ...["gdb", "lldb", "pwsh", "powershell", "cmd", "nu", "xonsh", "elvish", "oil", "osh", "es", "rc", "tcsh", "qjs"],
  ..."zx esno vite-node babel-node jbang jrunscript janet maxima gp sage stap dtrace kotlinc hy fennel".split(" "),
  ..."gosh pudb pdb ipdb texlua kscript scala-cli fsharpi wolframscript gforth csi scheme chez bpython3".split(" "),
  ..."jshell pike rdmd rebol chef-apply chef-shell swc-node escript gjs d8 mujs tjs wasmtime wasmer".split(" "),
  ..."ptpython micropython dotnet-script jjs bsh gap gprolog mit-scheme gsi newlisp factor rexx regina".split(" "),
  ..."wren red io lean coqtop csharp execlineb coffee lsc jiti ts-node-dev esbuild-runner sucrase-node".split(" "),
  ..."papermill tcc amm psysh cling cint sash spark-shell pyspark".split(" "),
]);

/** Options that take no value in any program: a word after them is an operand. */
const PLAIN_OPTIONS =
  /^(?:-[qy]|-[a-zA-Z]\d+|--(?:rm|init|quiet|silent|yes|offline|frozen|locked|login|norc|noprofile|verbose|interactive|tty|privileged|allow-[\w-]+))$/;

/** The same, for some programs. */
const PLAIN_OPTIONS_OF: readonly { programs: RegExp; options: RegExp }[] = [
  { programs: /^(?:python|pypy|py)$/, options: /^-[bBdEhiIOPqRsSuvx]+$/ },
  { programs: /^(?:(?:ba|z|da|k|mk|a|rba|ya)?sh)$/, options: /^-[abefhiklmnprstuvxBCEHPT]+$/ },
  { programs: /^(?:perl|ruby)$/, options: /^-w$/ },
  { programs: /^(?:docker|podman|nerdctl|docker-compose|podman-compose|kubectl|oc)$/, options: /^-[itd]+$/ },
  { programs: /^(?:make|gmake)$/, options: /^-[BeikLnpqrRsStvw]+$/ },
];

/** Options whose value is the whole code: the words that follow are its arguments. */
const CODE_OPTIONS: readonly { programs: RegExp; option: RegExp }[] = [
  { programs: /^(?:python|pypy|py)$/, option: /^-[bBdEhiIOPqRsSuvx]*[cm]$/ },
  { programs: /^(?:(?:ba|z|da|k|mk|a|rba|ya)?sh)$/, option: /^-[a-zA-Z]*c[a-zA-Z]*$/ },
];

/**
 * Why a rule that allows everything with this prefix must not be saved; undefined when it may be. A prefix is refused
 * when what follows it may be any program or code: an interpreter, a shell, a wrapper or a runner whose command is left
 * open. Where it is not known whether a word is the value of an option, both count.
 */
export function findPrefixBan(prefix: readonly string[]): string | undefined {
  const [program, ...rest] = prefix;
  if (program === undefined || program === "") return "the prefix is empty";
  const name = programOf(program);
  const forms = getRunnerForms(name);
  const open = findOpenOption(name, rest);
  if (open !== undefined) return open;
  if (forms !== undefined) return findRunnerBan(name, forms, rest) ?? findSettingBan(name, rest);
  if (SHELLS.has(name) || INTERPRETERS.has(name)) return findInterpreterBan(name, rest);
  return isWrapper(name) ? findWrapperBan(name, prefix) : findToolBan(name, rest);
}

/** Represents whatever may follow a prefix. */
const ANYTHING = "anything-at-all";

/** Refuses a final option with an open value that is a program or a script (by the tables), or code or settings (by its name). */
function findOpenOption(name: string, words: readonly string[]): string | undefined {
  const last = words.at(-1) ?? "";
  if (!/^-./.test(last)) return undefined;
  const isRun = listOptionCommands(name, [...words, ANYTHING]).some((each) => JSON.stringify(each).includes(ANYTHING));
  const isGit = name === "git" && (GIT_OPEN_OPTION.test(last) || (words[0] === "clone" && /^-[uc]$/.test(last)));
  const isCode = isGit || (!TEXT_PROGRAMS.test(name) && OPEN_OPTION.test(last)) || OPEN_LETTERS.test(`${name} ${last}`);
  if (!isRun && !isCode && listSettingFiles(name, [...words, ANYTHING]).every(({ path }) => path !== ANYTHING))
    return undefined;
  return `the value of \`${last}\` is left open, and \`${name}\` may run what it says; ${NARROWER}`;
}

const OPEN_OPTION =
  /^(?:-[ceEPK]|--?(?:[\w-]*-)?(?:exec|exec-path|execute|eval|expr|expression|script|command|cmd|program|shell|pager|editor|rsh|wrapper|toolexec|vettool|filter|hook|run[-_]under|askpass|interpreter|renderer|engine|plugin|require|import|[a-z]+cmd|photo-viewer|rulesdir)|--?on-[\w-]+)$/;

/** Letters of options that are code only in these programs. */
const OPEN_LETTERS =
  /^(?:(?:apt(?:-get|-cache|-config|-mark)?|ssh-copy-id) -o|wget --?e(?:xecute)?|(?:mocha|rspec|asciidoctor|erb) -r|pandoc -F|nginx -g|g?cc -B|g\+\+ -B|jest --runner|(?:eslint|prettier|stylelint) --(?:parser|formatter|custom-syntax|resolve-plugins-relative-to))$/;

const GIT_OPEN_OPTION = /^--(?:upload-pack|receive-pack|exec|config|extcmd)$/;

/** Programs in which the letters of `OPEN_OPTION` do not take code. */
const TEXT_PROGRAMS = /^(?:e|f|z|ug)?(?:grep|rep)$|^(?:cut|wc|sort|ls|head|tail|git|gh)$/;

/** Words by which a tool that is in no table runs what follows. */
const OPEN_WORDS = /^(?:exec|run|x|sh|shell|ssh|eval|spawn|launch|dlx|enter|do|repl|console|tinker|run-command)$/;

/** The word after one of these may be a host, a container or an image, and a command follows. */
const OPEN_TARGETS = /^(?:exec|ssh|rsh|enter|shell)$/;

function findToolBan(name: string, words: readonly string[]): string | undefined {
  const operands = words.filter((word) => !/^[-+]/.test(word));
  const last = operands.at(-1) ?? "";
  const isOpen =
    last.split(/[:]/).some((part) => OPEN_WORDS.test(part) && !(part === "run" && BUILD_TOOLS.has(name))) ||
    OPEN_TARGETS.test(operands.at(-2) ?? "") ||
    (name === "cmake" && /^(?:env|time|chdir)$/.test(operands[0] ?? "") && words[0] === "-E" && operands.length < 3) ||
    /-exec$/.test(operands.length === 0 ? name : "");
  if (!isOpen) return findSettingBan(name, words);
  return `\`${[name, ...operands].join(" ")}\` runs any command it is given; ${NARROWER}`;
}

/** Settings of a tool can name what it runs later. */
function findSettingBan(name: string, words: readonly string[]): string | undefined {
  const isOpen = listToolSettings(name, [...words, ANYTHING]).some((word) => word === ANYTHING);
  return isOpen ? `\`${name} ${words.join(" ")}\` sets what it may run later; ${NARROWER}` : undefined;
}

/** Its name as in the tables: without directory, extension and version, in lower case. */
function programOf(program: string): string {
  const name = posix
    .basename(program.replaceAll("\\", "/"))
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|com|ps1)$/, "");
  if (isKnown(name)) return name;
  const versionless = name.replace(/[-_.]?\d.*$/, "");
  return isKnown(versionless) ? versionless : name;
}

const isKnown = (name: string): boolean =>
  SHELLS.has(name) || INTERPRETERS.has(name) || isWrapper(name) || getRunnerForms(name) !== undefined;

function findInterpreterBan(name: string, words: readonly string[]): string | undefined {
  const code = CODE_OPTIONS.find(({ programs }) => programs.test(name))?.option;
  const at = code === undefined ? -1 : words.findIndex((word) => code.test(word));
  const isPinned = at !== -1 && words.slice(at + 1).some((word) => !/^[-+]./.test(word));
  const open = `\`${name}\` runs any script it is given; ${NARROWER}`;
  if (isPinned) return /m$/.test(words[at] ?? "") ? findModuleBan(name, words.slice(at + 1)) : undefined;
  if (name === "cmd" && words.every((word) => word.startsWith("/"))) return open;
  return readOperands(name, words)?.every((operands) => operands.length > 0) ? undefined : open;
}

/** Modules of Python that run the file or the code that they are given. */
const CODE_MODULES =
  /^(?:pdb|pudb|ipdb|runpy|timeit|trace|c?profile|code|ipython|ptpython|bpython|debugpy|memray|viztracer|scalene|pyinstrument|line_profiler|kernprof|memory_profiler|doctest|idlelib|nox|tox|invoke|fabric|jupyter|streamlit|celery)$/i;

/** `python3 -m module …`: the module may run what follows, or be a runner such as `poetry`. */
function findModuleBan(name: string, words: readonly string[]): string | undefined {
  const [module = "", ...rest] = words.slice(words.findIndex((word) => !/^[-+]./.test(word)));
  const isPinned = rest.some((word) => !/^[-+]./.test(word));
  if (CODE_MODULES.test(module) && !isPinned) return `\`${name} -m ${module}\` runs any code it is given; ${NARROWER}`;
  return CODE_MODULES.test(module) ? undefined : findPrefixBan([module, ...rest]);
}

const NARROWER = "give a longer prefix, one that says what is run";

function findRunnerBan(name: string, forms: readonly RunnerForm[], words: readonly string[]): string | undefined {
  for (const operands of readOperands(name, words) ?? [[]]) {
    for (const form of forms) {
      const ban = findFormBan(name, form, operands);
      if (ban !== undefined) return ban;
    }
  }
  return undefined;
}

function findFormBan(name: string, form: RunnerForm, operands: readonly string[]): string | undefined {
  const { phrase, before, runs } = form;
  if (!phrase.every((word, at) => operands[at] === undefined || operands[at] === word)) return undefined;
  const whole = `\`${[name, ...phrase].join(" ")}\``;
  const rest = operands.slice(phrase.length + before);
  if (runs === "code") return `${whole} runs code or programs that its arguments name; no prefix of it can be saved`;
  if (rest.length === 0)
    return `${whole} runs any ${runs === "named" ? "task or file" : "command"} it is given; ${NARROWER}`;
  return runs === "program" ? findPrefixBan(rest) : undefined;
}

/**
 * The operands of a command in every interpretation: what follows an option may be its value. Undefined for more than
 * `MAX_PREFIX_READINGS`.
 */
function readOperands(name: string, words: readonly string[]): string[][] | undefined {
  const own = PLAIN_OPTIONS_OF.find(({ programs }) => programs.test(name))?.options;
  const takesValue = (option: string) =>
    /^[-+]./.test(option) &&
    option !== "--" &&
    !option.includes("=") &&
    !PLAIN_OPTIONS.test(option) &&
    !own?.test(option);
  let readings: string[][] = [[]];
  for (const [at, word] of words.entries()) {
    if (/^[-+]/.test(word) || /^\w+[:+?]?=/.test(word)) continue;
    const taken = readings.map((operands) => [...operands, word]);
    readings = takesValue(words[at - 1] ?? "") ? [...readings, ...taken] : taken;
    if (readings.length > MAX_PREFIX_READINGS) return undefined;
  }
  return readings;
}

function findWrapperBan(name: string, prefix: readonly string[]): string | undefined {
  const { inner, guesses, unclear } = findNestedCommands([name, ...prefix.slice(1)]);
  const commands = inner.flatMap((each) =>
    each.kind === "command" || each.kind === "input-arguments" ? [each.argv] : [],
  );
  const isOpen = commands.length === 0 || commands.length < inner.length || guesses.length > 0 || unclear !== undefined;
  if (isOpen) return `\`${name}\` runs any command it is given; ${NARROWER}`;
  return commands.map(findPrefixBan).find((ban) => ban !== undefined);
}
