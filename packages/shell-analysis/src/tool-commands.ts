import { type NestedCommand, toScript, toSuffixes } from "./nested-commands.js";
import { BUILD_TOOLS, HOST_TOOLS, PLAIN_TOOLS } from "./plain-programs.js";

/** Words after which a tool runs what follows, alone or as a part of `emulators:exec` or `run-script`. */
const RUN_WORDS =
  /^(?:exec|x|sh|shell|ssh|eval|spawn|launch|invoke|local|use|with|util|debug|attach|credential[\w-]*|plugin|extension|ext|hook|hooks|explore?)$/;

/** Words that settings follow, in any form. */
const SETTING_WORDS = /^(?:config|configure|pkg|set|set-\w+|setenv|alias|settings|option|options)$/;

/** What follows such a word where nothing is set or run. */
const READING_WORDS = /^(?:list|ls|get|get-\w+|show|view|describe|status|info|help|search|current-\w+|use-context)$/;

/** Names of options, in parts, whose value is a program or a script. */
const RUN_OPTIONS =
  /^(?:exec|executor|command|cmd|program|shell|pager|editor|rsh|wrapper|launcher|runner|under|hook|invoke|askpass|interpreter|renderer|difftool|toolexec|vettool|helper|process|browser|sendmail|opener|prog|executable|compressor|decompressor|callback|runtime|conmon|ssh|client)$/;

/**
 * What a program that is in no table of wrappers may run by its own words or options: the rest after a word such as
 * `exec`, and the value of an option such as `--pager`. All of them are guesses, which count only where a rule matches one.
 */
export function listToolGuesses(name: string, args: readonly string[]): NestedCommand[] {
  const values = args.flatMap((arg, at) => {
    const [, option = "", value] = /^--?([a-zA-Z][\w-]+)(?:[=:](.*))?$/s.exec(arg) ?? [];
    return option.split("-").some((part) => RUN_OPTIONS.test(part)) ? [value ?? args[at + 1] ?? ""] : [];
  });
  const guesses = values.filter((value) => value !== "").map((value) => toScript(value));
  if (!isTool(name)) return guesses;
  const isWord = (arg: string, before = "") =>
    arg.split(/[:-]/).some((part) => isRunWord(name, part)) && !(arg.length < 6 && /^-[^=]*$/.test(before));
  const at = args.findIndex((arg, index) => /^[a-z]/.test(arg) && isWord(arg, args[index - 1]));
  const end = HOST_TOOLS.has(name) ? args.indexOf("--") : -1;
  const word = at === -1 || READING_WORDS.test(args[at + 1] ?? "") ? end : at;
  if (word === -1) return guesses;
  const rest = args.slice((end === -1 ? word : Math.min(word, end)) + 1);
  return [...guesses, ...toSuffixes(rest), ...rest.flatMap((arg) => (/\s/.test(arg) ? [toScript(arg)] : []))];
}

const isTool = (name: string): boolean =>
  name !== "git" && (BUILD_TOOLS.has(name) || HOST_TOOLS.has(name) || PLAIN_TOOLS.has(name));

/** The tasks of build tools have names of their own: `npm run rm` runs no `rm`. */
const isRunWord = (name: string, word: string): boolean =>
  RUN_WORDS.test(word) || SETTING_WORDS.test(word) || (word === "run" && HOST_TOOLS.has(name));

/** Settings of a tool, in a form of its own (`pkg set --json scripts='{…}'`): a text that may contain commands. */
export function listToolSettings(name: string, args: readonly string[]): string[] {
  if (!isTool(name)) return [];
  const texts = /^(?:gh|glab|curl|wget|https?|httpie|xh)$/.test(name) ? [] : listTextOptions(args);
  const at = args.findIndex((arg) => SETTING_WORDS.test(arg));
  return at === -1 || READING_WORDS.test(args[at + 1] ?? "") ? texts : [...texts, ...args.slice(at + 1)];
}

/** Values that are scripts, or settings with commands in them: `--metadata startup-script='…'`, `--overrides '{…}'`. */
const listTextOptions = (args: readonly string[]): string[] =>
  args.flatMap((arg, at) => {
    const [, option = "", value] = /^--?([a-zA-Z][\w-]+)(?:[=:](.*))?$/s.exec(arg) ?? [];
    if (option.split("-").some((part) => TEXT_OPTIONS.test(part))) return [value ?? args[at + 1] ?? ""];
    return /^(?:[{[]|#!)/.test(arg) ? [arg] : [];
  });

const TEXT_OPTIONS = /^(?:scripts?|startup|metadata|userdata|data|overrides|patch|parameters|change|var|args?|set)$/;

/** Long options that name a file of settings, by parts of their names. */
const FILE_OPTIONS =
  /config|rc$|^(?:conf|rcfile|settings|init|defaults|profile|options|argfile|inventory|playbook|env)$/i;

/** The same, in one letter, by program. */
const FILE_LETTERS: readonly { programs: RegExp; letters: RegExp }[] = [
  { programs: /^(?:apt|apt-get|apt-cache|aptitude|supervisord|nginx|logrotate|tig|mutt)$/, letters: /^-c/ },
  { programs: /^(?:ssh|scp|sftp|autossh|mosh|rsh|ssh-keyscan)$/, letters: /^-F/ },
  { programs: /^(?:curl|xh)$/, letters: /^-[a-zA-Z]*K/ },
  { programs: /^(?:tmux|screen|docker-compose|podman-compose)$/, letters: /^-[cf]/ },
  { programs: /^(?:mvn|mvnw|gradle|gradlew)$/, letters: /^-(?:s|gs|I|c|t|f)/ },
];

/** Files that the arguments name as settings of the program. `isSure`: certainly a settings file, not only probably. */
export function listSettingFiles(name: string, args: readonly string[]): { path: string; isSure: boolean }[] {
  if (/^(?:gh|glab|git|echo|printf|cat)$/.test(name)) return [];
  if (args[0] === "compose") return listSettingFiles(`${name}-compose`, args.slice(1));
  const letters = FILE_LETTERS.find(({ programs }) => programs.test(name))?.letters;
  return args.flatMap((arg, at) => {
    const [, option = "", value] = /^--?([a-zA-Z][\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    const next = args[at + 1] ?? "";
    if (letters?.test(arg) === true) {
      const attached = arg.replace(letters, "");
      return [{ path: attached === "" ? next : attached, isSure: /^apt/.test(name) }];
    }
    if (!option.split("-").some((part) => FILE_OPTIONS.test(part))) return [];
    return [{ path: value ?? next, isSure: /^apt/.test(name) || /^(?:user|global)config$/.test(option) }];
  });
}
