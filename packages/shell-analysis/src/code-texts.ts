import { posix } from "node:path";
import { isGitFile } from "./git-settings.js";
import { BUILD_TOOLS, HOST_TOOLS } from "./plain-programs.js";
import { plainName } from "./program-name.js";
import { mayTakeCode, startsShell } from "./wrappers.js";

/**
 * Values of options, attached or not, and arguments of more than one word. All arguments where an interpreter's program is one of
 * them, its input or one of the `files`: the program may run what it is given.
 */
export function listValues([program = "", ...args]: readonly string[], files: ReadonlyMap<string, string>): string[] {
  const name = plainName(program);
  const isRead = (arg: string) => arg === "-" || files.has(posix.normalize(arg));
  const isCode =
    (INTERPRETERS.test(name) || /awk$/.test(name)) && args.some((arg) => /[({;\s@]/.test(arg) || isRead(arg));
  const all = isCode ? [...args, args.join(" ")] : [];
  const values = args.flatMap((arg, at) => {
    const isOption = /^[-+]./s.test(arg);
    const attached = isOption ? [arg.slice(1), arg.slice(2)] : [];
    const next = isOption && !/[=]/.test(arg) ? (args[at + 1] ?? "") : "";
    return [...attached, next, ...(/[^\w./-]/.test(arg) ? [arg] : [])];
  });
  return [...values, ...all];
}

const INTERPRETERS =
  /^(?:python|pypy|node|nodejs|ruby|perl|php|lua|luajit|tclsh|expect|osascript|ed|ex|dc|m4|gdb|rscript|r|julia|ghci|jshell|irb|guile|elixir|groovy|scala)$/;

/** Whether code among the arguments names a shell. */
export const namesShell = (args: readonly string[]): boolean =>
  args.some((arg) => /(?<![\w.-])(?:ba|da|z|k|c|tc|fi)?sh(?![\w.-])/.test(arg));

/** Names of files that the commands make, where code of another one finds files without their names. */
export const listListedNames = (users: readonly (readonly string[])[]): string[] =>
  users.some(
    ([program = "", ...args]) => INTERPRETERS.test(plainName(program)) && args.some((arg) => LISTING.test(arg)),
  )
    ? users.flatMap(([program = "", ...args]) => (/^(?:touch|mkdir|ln|cp|mv)$/.test(plainName(program)) ? args : []))
    : [];

/** Whether an interpreter reads its program from its input, because its arguments name none. */
export function readsProgram([program = "", ...args]: readonly string[]): boolean {
  const name = plainName(program);
  if (/^n?vim?(?:\.\w+)?$/.test(name)) return args.some((arg) => /^-[a-z]*s$/.test(arg));
  if (!INTERPRETERS.test(name)) return false;
  return args.every((arg) => /^(?:-|\/dev\/stdin|-[a-zA-Z]|--\w[\w-]*)$/.test(arg) && !/^-[cemrf]$/.test(arg));
}

/** Files that programs do not execute. */
const PROSE = /(?<!CMakeLists)\.(?:md|markdown|txt|rst|adoc|html?|css|csv|svg|log|lock)$/i;

/** Whether a program that is started with these words may run what is in the file. */
function mayUse(path: string, argv: readonly string[]): boolean {
  const [program = "", ...args] = argv;
  const name = basename(path);
  // A subcommand that it does not have is looked up as a program: `kubectl-y` for `kubectl y`.
  if (basename(program) === name || name.startsWith(`${plainName(program)}-`)) return true;
  if (plainName(program) === "git") return isGitFile(path) || (args.includes("rebase") && !PROSE.test(path));
  if (startsShell(program) && START_FILES.test(path)) return true;
  if (INSTALLERS.test(plainName(program)) && !PROSE.test(path)) return true;
  if (plainName(program) === "ssh" && path.includes(".ssh/")) return true;
  if (!mayUseFiles(program, args) && !(HOST_TOOLS.has(plainName(program)) && SETTINGS.test(path))) return false;
  return !PROSE.test(path) || args.some((arg) => arg.includes(name) || LISTING.test(arg));
}

/** What finds files without their names: a pattern, or a function of some language. */
const LISTING = /[*?]|\b(?:glob|listdir|scandir|readdir\w*|iterdir|walk|opendir)\b/;

const mayUseFiles = (program: string, args: readonly string[]): boolean =>
  BUILD_TOOLS.has(plainName(program)) || mayTakeCode(program, args) || /(?:^|\/)(?:\.|source|\w*sh|bun)$/.test(program);

/** Programs that run scripts and jobs of files which they get or install. */
const INSTALLERS = /^(?:dpkg|rpm|dnf|yum|apk|pacman|systemctl|service|launchctl|at|batch|parallel)$/;

/** Settings of a user or a host. */
const SETTINGS =
  /(?:(?:rc|conf|config|credentials|\balias(?:es)?|\bplugins?|settings)(?:\.(?:ya?ml|json))?|conf\.d\/[^/]*|\.cfg|\.ini|\.toml)$/i;

/** Files that programs load by default, by name. */
const LOADED = /(?:^|\/)(?:sitecustomize|usercustomize|conftest)\.py$|\.(?:pth|so|pm|jar)$/;

/**
 * How a file that a script writes may be used. `places`: paths in which programs look for code and settings because of
 * variables of the script; with any of them, every program may use the file.
 */
export function judgeWrittenFile(
  path: string,
  text: string,
  users: readonly (readonly string[])[],
  places: readonly string[],
): { isUsed: boolean; isShell: boolean; isSettings: boolean } {
  const isNamed = places.some((place) => posix.normalize(place) === path);
  const isPlaced = places.length > 0 && !PROSE.test(path);
  const isUsed = isNamed || isPlaced || users.some((argv) => mayUse(path, argv));
  return {
    isUsed,
    isShell: isShellText(path, text),
    isSettings: isNamed || (isPlaced && LOADED.test(path)) || isGitFile(path),
  };
}

const basename = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Whether it is a shell script, or a file that a shell reads at startup. */
const isShellText = (path: string, text: string): boolean =>
  /^#!.*sh\b/.test(text) || START_FILES.test(path) || /\.sh$|hooks\/[\w-]+$|gitconfig$/.test(path);

/** Files that a shell reads at startup. */
const START_FILES = /(?:rc|profile|login|env)$/;
