import { posix } from "node:path";
import { splitWords } from "./line-words.js";
import type { Inner } from "./wrappers.js";

/**
 * What the options of a program that is no wrapper run all the same: a proxy of `ssh`, a pager of `git`. Only counted
 * against a command. Programs with a language of their own (`awk`, `python -c`, `sed`) are not read.
 */
export function listCarried(argv: readonly string[]): Inner[] {
  const [program = "", ...args] = argv;
  const name = posix.basename(program);
  if (name === "git") return listGit(args);
  const options = CARRIERS.get(name);
  return options === undefined ? [] : args.flatMap((arg, at) => options(arg, args[at + 1])).map(toScript);
}

const toScript = (script: string): Inner => ({ kind: "script", script, args: [] });

/** The scripts that an argument, or the one after it, carries. */
type FindScripts = (arg: string, next: string | undefined) => string[];

/** Options whose value is a script, attached or the next argument. */
const valuesOf =
  (short: string, long: readonly string[]): FindScripts =>
  (arg, next = "") => {
    const [name = "", ...value] = arg.split("=");
    if (long.includes(name)) return [value.length > 0 ? value.join("=") : next];
    if (short === "" || !arg.startsWith(`-${short}`)) return [];
    return [arg.length > 2 ? arg.slice(2) : next];
  };

const SSH_COMMANDS = /^\s*(?:proxycommand|localcommand|remotecommand|knownhostscommand)[\s=]+(.+)$/is;

const sshOptions: FindScripts = (arg, next) =>
  valuesOf("o", [])(arg, next).flatMap((setting) => SSH_COMMANDS.exec(setting)?.[1] ?? []);

/** `+!command`, and the value of `-c` where it begins so. */
const editorCommands: FindScripts = (arg, next = "") =>
  [arg.replace(/^\+/, ""), ...(/^(?:-c|--cmd)$/.test(arg) ? [next] : [])].flatMap(
    (text) => /^:?(?:sil\w*\s+|%)*!\s*(.+)$/s.exec(text)?.[1] ?? [],
  );

const inEither =
  (...finders: FindScripts[]): FindScripts =>
  (arg, next) =>
    finders.flatMap((find) => find(arg, next));

const TAR_OPTIONS = ["--to-command", "--use-compress-program", "--rsh-command", "--rmt-command"];
const TAR_SCRIPTS = ["--info-script", "--new-volume-script"];

const CARRIERS: ReadonlyMap<string, FindScripts> = new Map(
  Object.entries<FindScripts>({
    ssh: sshOptions,
    sftp: inEither(sshOptions, valuesOf("S", [])),
    scp: inEither(sshOptions, valuesOf("S", [])),
    rsync: valuesOf("e", ["--rsh"]),
    tar: inEither(valuesOf("I", [...TAR_OPTIONS, ...TAR_SCRIPTS]), (arg, next) =>
      valuesOf("", ["--checkpoint-action"])(arg, next).flatMap((action) => /^exec=(.+)$/s.exec(action)?.[1] ?? []),
    ),
    make: (arg) => /^SHELL:?=(.+)$/s.exec(arg)?.slice(1, 2) ?? [],
    man: valuesOf("P", ["--pager"]),
    vi: editorCommands,
    vim: editorCommands,
    nvim: editorCommands,
    less: editorCommands,
    npx: valuesOf("c", ["--call"]),
  }),
);

/** Options of `git` itself that take the next argument. */
const GIT_VALUE_OPTIONS = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"];

/** Settings that are run, by their last part or as a whole. */
const GIT_RUN_SETTINGS =
  /^(?:pager\..*|.*\.(?:pager|editor|sshcommand|askpass|fsmonitor|gitproxy|external|textconv|command|cmd|driver|clean|smudge|process|helper|program|difffilter))$/is;

function listGit(args: readonly string[]): Inner[] {
  const inner: Inner[] = [];
  const aliases = new Map<string, string>();
  let at = 0;
  for (; (args[at] ?? "").startsWith("-"); at += 1) {
    const option = args[at] ?? "";
    const setting = /^([^=]+)=(.*)$/s.exec(option === "-c" ? (args[at + 1] ?? "") : "");
    const [, name = "", value = ""] = setting ?? [];
    if (/^alias\./i.test(name)) aliases.set(name.slice("alias.".length).toLowerCase(), value);
    else if (GIT_RUN_SETTINGS.test(name)) inner.push(toScript(value.replace(/^!/, "")));
    if (GIT_VALUE_OPTIONS.includes(option)) at += 1;
  }
  const [verb, ...rest] = args.slice(at);
  if (verb === undefined) return inner;
  // A rule for `git push` is about that, whatever comes between.
  if (at > 0) inner.push({ kind: "command", argv: ["git", verb, ...rest] });
  const alias = aliases.get(verb.toLowerCase());
  if (alias?.startsWith("!")) inner.push(toScript([alias.slice(1), ...rest].join(" ")));
  else if (alias !== undefined) inner.push({ kind: "command", argv: ["git", ...(splitWords(alias) ?? []), ...rest] });
  return [...inner, ...listGitVerb(verb, rest)];
}

/** Commands of `git` that run others. */
function listGitVerb(verb: string, args: readonly string[]): Inner[] {
  const [first, ...rest] = args;
  if (verb === "bisect" && first === "run") return [{ kind: "command", argv: rest }];
  const foreach = args.indexOf("foreach");
  if (verb === "submodule" && foreach !== -1) {
    const script = args.slice(foreach + 1).filter((arg) => !arg.startsWith("--"));
    return [toScript(script.join(" "))];
  }
  const options = GIT_VERBS.get(verb);
  return options === undefined ? [] : args.flatMap((arg, at) => options(arg, args[at + 1])).map(toScript);
}

const FILTERS = ["env", "tree", "index", "parent", "msg", "commit", "tag-name"].map((name) => `--${name}-filter`);

const GIT_VERBS: ReadonlyMap<string, FindScripts> = new Map([
  ["rebase", valuesOf("x", ["--exec"])],
  ["difftool", valuesOf("x", ["--extcmd"])],
  ["filter-branch", valuesOf("", [...FILTERS, "--setup"])],
  ["grep", valuesOf("O", ["--open-files-in-pager"])],
  ["clone", valuesOf("u", ["--upload-pack"])],
  ["fetch", valuesOf("", ["--upload-pack"])],
  ["pull", valuesOf("", ["--upload-pack"])],
  ["push", valuesOf("", ["--receive-pack", "--exec"])],
]);
