import { type NestedCommand, type NestedCommands, toCommand, toScript } from "./nested-commands.js";
import { listPieces } from "./pieces.js";

/** Settings that are run, by their last part or as a whole. */
const RUN_SETTINGS =
  /^(?:pager\..*|.*\.(?:\w*pager|\w*editor|sshcommand|askpass|fsmonitor|gitproxy|external|textconv|\w*command|\w*cmd|driver|clean|smudge|process|helper|program|difffilter|uploadpack|receivepack|\w*hook|update|httpd|smtpserver|tunnel|vcs)|(?:merge|diff|gui)tool\..*\.path|(?:man|browser)\..*\.path)$/is;

/** Settings that name a file of settings, a directory of hooks, or a transport that runs commands from an address. */
const LOADING_SETTINGS =
  /^(?:include\.path|includeif\..*\.path|core\.(?:hookspath|attributesfile|worktree)|init\.templatedir|extensions\..*|protocol\.(?:ext\.)?allow|remote\..*\.vcs)$/is;

/** Values with which these settings load nothing from a place of the command's choice. */
const HARMLESS_VALUES = /^(?:|\/dev\/null|never|user|false)$/;

/** A setting as `-c name=value` gives it. `isKept`: it is written to a file instead, for later. */
export function judgeSetting(name: string, value: string, isKept = false): NestedCommands {
  const inner = [name, value].flatMap(readRemote);
  const guesses: NestedCommand[] = [];
  const isAlias = /^alias\./i.test(name);
  if (isAlias ? value.startsWith("!") : RUN_SETTINGS.test(name)) inner.push(toScript(value.replace(/^!/, "")));
  else if (!isAlias) guesses.push(toScript(value.replace(/^!/, "")));
  // What an editor writes into the list of a rebase is run: `echo exec zap >>`.
  if (/editor$/i.test(name)) guesses.push(...listPieces(value).map(toCommand));
  const isLoading = LOADING_SETTINGS.test(name) && !HARMLESS_VALUES.test(value);
  // A project with its hooks in its tree saves this setting once.
  const isUsual = isKept && /^core\.(?:hookspath|worktree|attributesfile)$|^extensions\./i.test(name);
  const unclear = isLoading && !isUsual ? `\`git\` loads what its setting \`${name}\` names` : undefined;
  return { inner, guesses, unclear };
}

/** `ext::command`, in which `% ` is a space of a word; in a name `url.<address>.insteadOf`. */
export function readRemote(text: string): NestedCommand[] {
  const remote = /(?:^|^--\w+=|\.)ext::(.+)$/s.exec(text)?.[1]?.replace(/\.(?:push)?insteadof$/i, "");
  return remote === undefined ? [] : [toScript(remote.replace(/% /g, "\\ ").replace(/%[sSG]\S*/g, ""))];
}

/** `name=value` of a setting. */
export function parseSetting(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  return at === -1 ? [text, "true"] : [text.slice(0, at), text.slice(at + 1)];
}

const HOOKS =
  /(?:^|\/)(?:(?:pre|post)-[\w-]+|commit-msg|prepare-commit-msg|applypatch-msg|update|fsmonitor-watchman|push-to-checkout|proc-receive|reference-transaction|sendemail-validate)$/;

/** Whether `git` may take settings, hooks or attributes from a file of this name. */
export const isGitFile = (path: string): boolean =>
  /(?:^|[/.])(?:ssh\/|git(?:\/|config|attributes|modules|-[\w-]+$))|hooks\/|(?:^|\/)config(?:\.worktree)?$/.test(
    path,
  ) || HOOKS.test(path);
