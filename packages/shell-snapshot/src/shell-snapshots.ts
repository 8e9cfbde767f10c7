import { basename, isAbsolute } from "node:path";
import { systemClock, waitAtMost } from "@codex/clock";
import type { ExecBackend, ProcessSpec } from "@codex/exec-backend";
import { isDecided } from "@codex/exec-backend";
import { CALL_VARIABLES, type EnvPolicy } from "@codex/executor-protocol";
import { defined, messageOf } from "@codex/values";
import { BASH_REPORT, normalizeBash, renderBash } from "./bash.js";
import { captureState } from "./capture.js";
import { CAPTURE_MS, MAX_AGE_MS, MAX_SNAPSHOTS } from "./limits.js";
import { createPrivateDirectory, type PrivateFiles } from "./private-directory.js";
import { findDifference, quote, type ShellState } from "./shell-state.js";
import { fingerprintStartupFiles, type ShellKind } from "./startup-files.js";
import type { RenderState } from "./state-change.js";
import { normalizeZsh, renderZsh, ZSH_REPORT } from "./zsh.js";

/** A command as it would be started. */
export interface ShellCommand extends Pick<ProcessSpec, "argv" | "cwd" | "env" | "sandbox"> {
  /** The policy that made `env`: startup files do not change variables that it forces or leaves out. */
  envPolicy?: EnvPolicy | undefined;
  overlay?: Readonly<Record<string, string>>;
  /** Commands of different scopes do not share snapshots. */
  scope?: string;
}

/**
 * How the shell of a command gets the state that its startup files set up: from a snapshot, or, with `login`, by reading them;
 * the reason is for display.
 */
export type ShellStartup =
  | { kind: "snapshot"; argv: readonly string[]; env: Readonly<Record<string, string>> }
  | { kind: "login"; reason: string };

/**
 * Snapshots of the state of login shells after their startup files, so that those need not be read for each command. Bash
 * and zsh. See docs/decisions/shell-snapshot.md.
 */
export interface ShellSnapshots {
  /** Waits at most `waitMs`, default 0, milliseconds: if there is no snapshot yet, one is created in the background for later commands. */
  find(command: ShellCommand, options?: { waitMs?: number }): Promise<ShellStartup>;
  /** Waits for snapshots that are being created, and removes the files. Idempotent. */
  close(): Promise<void>;
}

/** Collaborators and limits of `createShellSnapshots`. */
export interface ShellSnapshotsOptions {
  /** Runs the shells that read startup files, in the sandbox of the command. Not owned. */
  backend: ExecBackend;
  /** Environment of the host, which decides where the files are kept. */
  env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds that startup files may run. Default 10 s. */
  captureMs?: number;
  /** Milliseconds that a snapshot is valid. Default 5 min. */
  maxAgeMs?: number;
  /** Milliseconds, monotonic. */
  now?: () => number;
}

interface Snapshot {
  fingerprint: string;
  madeAt: number;
  made: Promise<void>;
  state: { files: PrivateFiles } | { reason: string } | undefined;
}

/** A snapshot is created by the first command that needs it. */
export function createShellSnapshots(options: ShellSnapshotsOptions): ShellSnapshots {
  const { backend, captureMs = CAPTURE_MS, maxAgeMs = MAX_AGE_MS, now = () => performance.now() } = options;
  const directory = createPrivateDirectory(options.env);
  /** Least recently used first. */
  const snapshots = new Map<string, Snapshot>();
  let closed = false;

  const drop = (key: string) => {
    const snapshot = snapshots.get(key);
    snapshots.delete(key);
    void snapshot?.made.then(() => {
      if (snapshot.state !== undefined && "files" in snapshot.state) snapshot.state.files.remove();
    });
  };
  const make = async (command: ShellCommand, kind: ShellKind): Promise<Snapshot["state"]> => {
    const captured = await capture(backend, command, kind, captureMs);
    if ("reason" in captured) return captured;
    if (closed) return { reason: "the host is shutting down" };
    let files: PrivateFiles;
    try {
      files = directory.write(KINDS[kind].files(captured.content, command.env));
    } catch (error) {
      return { reason: `it could not be kept: ${messageOf(error)}` };
    }
    const problem = await check(backend, command, kind, { path: files.path, state: captured.state, captureMs });
    if (problem === undefined) return { files };
    files.remove();
    return problem;
  };
  const add = (key: string, command: ShellCommand, kind: ShellKind, fingerprint: string): Snapshot => {
    const made = make(command, kind).then((state) => {
      snapshot.state = state;
    });
    const snapshot: Snapshot = { fingerprint, madeAt: now(), made, state: undefined };
    snapshots.set(key, snapshot);
    for (const oldest of snapshots.keys()) {
      if (snapshots.size <= MAX_SNAPSHOTS) break;
      drop(oldest);
    }
    return snapshot;
  };
  const isFresh = ({ state, madeAt }: Snapshot) => {
    if (state === undefined) return true;
    return now() - madeAt <= maxAgeMs && (!("files" in state) || state.files.isIntact());
  };

  return {
    async find(command, { waitMs = 0 } = {}) {
      const kind = getKind(command.argv);
      if (kind === undefined) return { kind: "login", reason: "snapshots are for `-lc` of bash and zsh" };
      if (closed) return { kind: "login", reason: "the host is shutting down" };
      const key = toKey(command);
      const fingerprint = fingerprintStartupFiles(kind, command.env);
      let snapshot = snapshots.get(key);
      const changed = snapshot !== undefined && snapshot.fingerprint !== fingerprint;
      if (changed || (snapshot !== undefined && !isFresh(snapshot))) drop(key);
      snapshot = snapshots.get(key) ?? add(key, command, kind, fingerprint);
      snapshots.delete(key);
      snapshots.set(key, snapshot);
      if (snapshot.state === undefined && waitMs > 0) await waitAtMost(systemClock, waitMs, snapshot.made);
      const { state } = snapshot;
      if (state === undefined)
        return { kind: "login", reason: changed ? "startup files have changed" : "the snapshot is being made" };
      if ("reason" in state)
        return { kind: "login", reason: `startup files do not go into a snapshot: ${state.reason}` };
      return { kind: "snapshot", ...KINDS[kind].start(command, state.files.path) };
    },
    async close() {
      closed = true;
      const making = [...snapshots.values()].map(({ made }) => made);
      snapshots.clear();
      directory.close();
      await Promise.all(making);
    },
  };
}

/** The shell of `[shell, "-lc", script]`. */
function getKind(argv: readonly string[]): ShellKind | undefined {
  const [shell = "", flags, , ...rest] = argv;
  if (!isAbsolute(shell) || flags !== "-lc" || argv.length !== 3 || rest.length > 0) return undefined;
  const name = basename(shell);
  return name === "bash" || name === "zsh" ? name : undefined;
}

/** Startup files may read any variable: a snapshot is for exactly one set of variables. */
function toKey({ argv, env, sandbox, envPolicy, overlay, scope }: ShellCommand): string {
  const forced = Object.keys(withoutCall(overlay ?? {})).sort();
  return JSON.stringify([argv[0], Object.entries(withoutCall(env)).sort(), sandbox, envPolicy, forced, scope]);
}

/** Which variables startup files may not touch. */
const getKept =
  ({ envPolicy, overlay = {} }: ShellCommand) =>
  (name: string): boolean =>
    CALL_VARIABLES.includes(name) || isDecided(envPolicy, overlay, name);

async function capture(
  backend: ExecBackend,
  command: ShellCommand,
  kind: ShellKind,
  deadlineMs: number,
): Promise<{ content: string; state: ShellState } | { reason: string }> {
  const { argv, cwd, env, sandbox } = command;
  const { report, bare, render } = KINDS[kind];
  const { BASH_ENV: _hook, ...plain } = withoutCall(env);
  const spec = { shell: argv[0]!, report, cwd, ...defined({ sandbox }) };
  const [base, state] = await Promise.all([
    captureState(backend, { ...spec, env: plain, flags: bare }, deadlineMs),
    captureState(backend, { ...spec, env: withoutCall(env), flags: "-lc" }, deadlineMs),
  ]);
  if ("reason" in state) return state;
  if ("reason" in base) return { reason: `without them, ${base.reason}` };
  const content = render(base, state, getKept(command));
  return typeof content === "string" ? { content, state } : content;
}

/** Starts a shell from the snapshot and compares its state with that of the login shell: a snapshot that differs is not used. */
async function check(
  backend: ExecBackend,
  command: ShellCommand,
  kind: ShellKind,
  { path, state, captureMs }: { path: string; state: ShellState; captureMs: number },
): Promise<{ reason: string } | undefined> {
  const { argv, cwd, env, sandbox } = command;
  const { report, start, normalize } = KINDS[kind];
  const isKept = getKept(command);
  const started = start({ argv, env: withoutCall(env) }, path);
  const place = { cwd, env: started.env, ...defined({ sandbox }) };
  const again = await captureState(backend, { shell: argv[0]!, flags: started.argv[1]!, report, ...place }, captureMs);
  if ("reason" in again) return { reason: "the snapshot could not be read" };
  const isCompared = (what: string, name: string) => what !== "variables" || !isKept(name);
  const difference = findDifference(normalize(state), normalize(again), isCompared);
  return difference === undefined ? undefined : { reason: `${difference} would not be the same` };
}

const withoutCall = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !CALL_VARIABLES.includes(name)));

interface Kind {
  report: string;
  /** Flags of a shell that reads no startup files. */
  bare: string;
  render: RenderState;
  normalize(state: ShellState): ShellState;
  files(content: string, env: Readonly<Record<string, string>>): Record<string, string>;
  start(
    command: Pick<ShellCommand, "argv" | "env">,
    path: string,
  ): { argv: readonly string[]; env: Readonly<Record<string, string>> };
}

/**
 * A variable makes both shells read the snapshot, which restores that variable: the script itself is unchanged, and so are its
 * line numbers, names and messages.
 */
const KINDS: Readonly<Record<ShellKind, Kind>> = {
  bash: {
    report: BASH_REPORT,
    bare: "-c",
    render: renderBash,
    normalize: normalizeBash,
    files: (content, env) => ({ snapshot: `${restoreVariable("BASH_ENV", env)}\n${content}\n` }),
    start: ({ argv, env }, path) => ({
      argv: [argv[0]!, "-c", ...argv.slice(2)],
      env: { ...env, BASH_ENV: `${path}/snapshot` },
    }),
  },
  zsh: {
    report: ZSH_REPORT,
    bare: "-fc",
    render: renderZsh,
    normalize: normalizeZsh,
    files: (content, env) => ({
      ".zshenv": "setopt noglobalrcs\n",
      ".zlogin": `${restoreVariable("ZDOTDIR", env)}\n${content}\n`,
    }),
    start: ({ argv, env }, path) => ({ argv, env: { ...env, ZDOTDIR: path } }),
  },
};

const restoreVariable = (name: string, env: Readonly<Record<string, string>>): string =>
  env[name] === undefined ? `unset -v ${name}` : `export ${name}=${quote(env[name])}`;
