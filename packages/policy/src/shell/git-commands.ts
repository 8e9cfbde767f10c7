import { splitWords } from "./line-words.js";
import { type NestedCommand, type NestedCommands, NO_NESTED_COMMANDS, toCommand, toScript } from "./nested-commands.js";
import { type FindOptionCommands, toInner, valuesOf } from "./option-commands.js";

/** Options of `git` itself that take the next argument. None may be abbreviated. */
const VALUE_OPTIONS =
  /^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--attr-source|--shallow-file|--exec-path-for)$/;

const FLAGS =
  /^(?:-[pPvh]|--(?:paginate|no-pager|bare|no-replace-objects|no-lazy-fetch|no-optional-locks|no-advice|literal-pathspecs|glob-pathspecs|noglob-pathspecs|icase-pathspecs|html-path|man-path|info-path|version|help|exec-path)|--(?:git-dir|work-tree|namespace|config-env|super-prefix|attr-source|exec-path|list-cmds)=.*)$/s;

/** Settings that are run, by their last part or as a whole. */
const RUN_SETTINGS =
  /^(?:pager\..*|.*\.(?:\w*pager|\w*editor|sshcommand|askpass|fsmonitor|gitproxy|external|textconv|\w*command|\w*cmd|driver|clean|smudge|process|helper|program|difffilter|uploadpack|receivepack|\w*hook|update|httpd|smtpserver))$/is;

/** What `git` runs: settings, aliases, and commands whose options are scripts. */
export function unwrapGit(args: readonly string[]): NestedCommands {
  const inner: NestedCommand[] = [];
  const guesses: NestedCommand[] = [];
  const aliases = new Map<string, string>();
  let unclear: string | undefined;
  let at = 0;
  for (; (args[at] ?? "").startsWith("-"); at += 1) {
    const option = args[at] ?? "";
    if (option === "-c") {
      const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(args[at + 1] ?? "") ?? [];
      if (/^alias\./i.test(name)) aliases.set(name.slice("alias.".length).toLowerCase(), value);
      inner.push(...listSetting(name, value));
    }
    if (option.startsWith("--config-env")) unclear ??= "`git` takes a setting from the environment";
    if (VALUE_OPTIONS.test(option)) at += 1;
    else if (!FLAGS.test(option) && unclear === undefined) {
      unclear = `\`git\` has an option that is not known: \`${option}\``;
      guesses.push(...args.slice(at + 1).map((_, index) => toCommand(["git", ...args.slice(at + 1 + index)])));
    }
  }
  const [verb, ...rest] = args.slice(at);
  if (verb === undefined) return { inner, guesses, unclear };
  // A rule for `git push` is about that, whatever comes between.
  if (at > 0) inner.push(toCommand(["git", verb, ...rest]));
  const alias = aliases.get(verb.toLowerCase());
  if (alias?.startsWith("!")) inner.push(toScript([alias.slice(1), ...rest].join(" ")));
  else if (alias !== undefined) inner.push(toCommand(["git", ...(splitWords(alias) ?? []), ...rest]));
  inner.push(...rest.flatMap(readRemote), ...listVerb(verb, rest));
  return inner.length + guesses.length === 0 ? NO_NESTED_COMMANDS : { inner, guesses, unclear };
}

function listSetting(name: string, value: string): NestedCommand[] {
  if (/^alias\./i.test(name)) return value.startsWith("!") ? [toScript(value.slice(1))] : [];
  return RUN_SETTINGS.test(name) ? [toScript(value.replace(/^!/, ""))] : [];
}

/** `ext::command`, in which `% ` is a space of a word. */
const readRemote = (arg: string): NestedCommand[] => {
  const remote = /^(?:--\w+=)?ext::(.+)$/s.exec(arg)?.[1];
  return remote === undefined ? [] : [toScript(remote.replace(/% /g, "\\ ").replace(/%[sSG]\S*/g, ""))];
};

/** Commands of `git` that run others. */
function listVerb(verb: string, args: readonly string[]): NestedCommand[] {
  const [first, ...rest] = args;
  if (verb === "bisect" && first === "run") return [toCommand(rest[0] === "--" ? rest.slice(1) : rest)];
  const foreach = args.indexOf("foreach");
  if (verb === "submodule" && foreach !== -1) {
    const script = args.slice(foreach + 1).filter((arg) => !/^(?:--.*|-q)$/s.test(arg));
    return [toScript(script.join(" "))];
  }
  if (verb === "for-each-repo") {
    const at = args.findIndex((arg) => !arg.startsWith("-"));
    return at === -1 ? [] : [toCommand(["git", ...args.slice(at)]), toCommand(["git", ...args.slice(at + 1)])];
  }
  if (verb === "config") return args.flatMap((name, at) => listSetting(name, args[at + 1] ?? ""));
  const options = VERBS.get(verb);
  if (options === undefined) return [];
  return args.flatMap((arg, at) => options(arg, args[at + 1], args.slice(at + 1))).map(toInner);
}

const FILTERS = "env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter setup";

/** Settings of the new repository. */
const cloneSettings = (arg: string, next?: string): string[] =>
  valuesOf("c", "config")(arg, next).flatMap((setting) => {
    const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(setting) ?? [];
    return RUN_SETTINGS.test(name) ? [value.replace(/^!/, "")] : [];
  });

const VERBS: ReadonlyMap<string, FindOptionCommands> = new Map<string, FindOptionCommands>([
  ["rebase", valuesOf("x", "exec")],
  ["difftool", valuesOf("x", "extcmd")],
  ["filter-branch", valuesOf("", FILTERS)],
  ["grep", valuesOf("O", "open-files-in-pager")],
  ["clone", (arg, next) => [...valuesOf("u", "upload-pack")(arg, next), ...cloneSettings(arg, next)]],
  ["fetch", valuesOf("", "upload-pack")],
  ["pull", valuesOf("", "upload-pack")],
  ["ls-remote", valuesOf("", "upload-pack exec")],
  ["fetch-pack", valuesOf("", "upload-pack exec")],
  ["push", valuesOf("", "receive-pack exec")],
  ["send-pack", valuesOf("", "receive-pack exec")],
  ["archive", valuesOf("", "exec")],
  ["send-email", valuesOf("", "smtp-server sendmail-cmd to-cmd cc-cmd header-cmd")],
  ["daemon", valuesOf("", "access-hook")],
  ["instaweb", valuesOf("db", "httpd browser")],
  ["help", valuesOf("", "web-browser")],
  ["web--browse", valuesOf("bt", "browser tool")],
]);
