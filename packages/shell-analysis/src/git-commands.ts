import { judgeSetting, parseSetting, readRemote } from "./git-settings.js";
import { MAX_GUESS_WORDS, MAX_GUESSES } from "./limits.js";
import { splitWords } from "./line-words.js";
import { classifyVariable } from "./loading-variables.js";
import { type NestedCommand, type NestedCommands, NO_NESTED_COMMANDS, toCommand, toScript } from "./nested-commands.js";
import { type FindOptionCommands, toInner, valuesOf } from "./option-commands.js";

/** Options of `git` itself that take the next argument. None may be abbreviated. */
const VALUE_OPTIONS =
  /^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--attr-source|--shallow-file|--exec-path-for)$/;

const FLAGS =
  /^(?:-[pPvh]|--(?:paginate|no-pager|bare|no-replace-objects|no-lazy-fetch|no-optional-locks|no-advice|literal-pathspecs|glob-pathspecs|noglob-pathspecs|icase-pathspecs|html-path|man-path|info-path|version|help|exec-path)|--(?:git-dir|work-tree|namespace|config-env|super-prefix|attr-source|exec-path|list-cmds)=.*)$/s;

/** What `git` runs: settings, aliases, and commands whose options are scripts. */
export function unwrapGit(args: readonly string[]): NestedCommands {
  const inner: NestedCommand[] = [];
  const guesses: NestedCommand[] = [];
  const aliases = new Map<string, string>();
  let unclear: string | undefined;
  const add = (setting: NestedCommands) => {
    inner.push(...setting.inner);
    guesses.push(...setting.guesses);
    unclear ??= setting.unclear;
  };
  let at = 0;
  for (; (args[at] ?? "").startsWith("-"); at += 1) {
    const option = args[at] ?? "";
    if (option === "-c") {
      const [name, value] = parseSetting(args[at + 1] ?? "");
      if (/^alias\./i.test(name)) aliases.set(name.slice("alias.".length).toLowerCase(), value);
      add(judgeSetting(name, value));
    }
    const [, way, place] = /^--(git-dir|exec-path)(?:=(.*))?$/s.exec(option) ?? [];
    const named = place ?? (way === "git-dir" ? args[at + 1] : undefined) ?? "";
    if (way !== undefined && classifyVariable(way === "git-dir" ? "GIT_DIR" : "GIT_EXEC_PATH", named) === "unseen") {
      unclear ??= `\`git\` takes settings or programs from \`${named}\``;
    }
    if (option.startsWith("--config-env")) unclear ??= "`git` takes a setting from the environment";
    if (VALUE_OPTIONS.test(option)) at += 1;
    else if (!FLAGS.test(option) && unclear === undefined) {
      unclear = `\`git\` has an option that is not known: \`${option}\``;
      const rest = args.slice(at + 1, at + 1 + MAX_GUESSES);
      guesses.push(...rest.map((_, index) => toCommand(["git", ...rest.slice(index, index + MAX_GUESS_WORDS)])));
    }
  }
  const [verb, ...rest] = args.slice(at);
  if (verb === undefined) return { inner, guesses, unclear };
  // A rule for `git push` also applies with options between the two words.
  if (at > 0) inner.push(toCommand(["git", verb, ...rest]));
  const alias = aliases.get(verb.toLowerCase());
  if (alias?.startsWith("!")) inner.push(toScript([alias.slice(1), ...rest].join(" ")));
  else if (alias !== undefined) inner.push(toCommand(["git", ...(splitWords(alias) ?? []), ...rest]));
  inner.push(...rest.flatMap(readRemote), ...listVerb(verb, rest));
  for (const setting of listSettings(verb, rest)) add(setting);
  return inner.length + guesses.length === 0 && unclear === undefined
    ? NO_NESTED_COMMANDS
    : { inner, guesses, unclear };
}

/** Settings that `git` commands write, or set in a new repository. */
function listSettings(verb: string, args: readonly string[]): NestedCommands[] {
  if (verb === "config") return args.map((name, at) => judgeSetting(...splitName(name, args[at + 1] ?? ""), true));
  if (verb !== "clone" && verb !== "init") return [];
  return args.flatMap((arg, at) => [
    ...valuesOf("c", "config")(arg, args[at + 1]).map((setting) => judgeSetting(...parseSetting(setting))),
    ...valuesOf("", "template")(arg, args[at + 1]).map((path) => judgeSetting("init.templateDir", path)),
  ]);
}

const splitName = (name: string, value: string): [string, string] =>
  name.includes(".") && !name.startsWith("-") ? [name, value] : ["", ""];

/** Commands of `git` that run others. */
function listVerb(verb: string, args: readonly string[]): NestedCommand[] {
  const [first, ...rest] = args;
  if (verb === "bisect" && first === "run") return [toCommand(rest[0] === "--" ? rest.slice(1) : rest)];
  const foreach = args.indexOf("foreach");
  if (verb === "submodule" && foreach !== -1) {
    const script = args.slice(foreach + 1).filter((arg) => !/^(?:--.*|-q)$/s.test(arg));
    return [toScript(script.join(" "))];
  }
  if (verb === "remote-ext") return args.slice(1).map((command) => toScript(command));
  if (verb === "for-each-repo") {
    const at = args.findIndex((arg) => !arg.startsWith("-"));
    return at === -1 ? [] : [toCommand(["git", ...args.slice(at)]), toCommand(["git", ...args.slice(at + 1)])];
  }
  const options = VERBS.get(verb);
  if (options === undefined) return [];
  return args.flatMap((arg, at) => options(arg, args[at + 1], () => args.slice(at + 1))).map(toInner);
}

const FILTERS = "env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter setup";

const VERBS: ReadonlyMap<string, FindOptionCommands> = new Map<string, FindOptionCommands>([
  ["rebase", valuesOf("x", "exec")],
  ["difftool", valuesOf("x", "extcmd")],
  ["filter-branch", valuesOf("", FILTERS)],
  ["grep", valuesOf("O", "open-files-in-pager")],
  ["clone", valuesOf("u", "upload-pack")],
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
