import { fstatSync, readFileSync, statSync } from "node:fs";
import { devNull } from "node:os";
import { isatty } from "node:tty";
import { quoteWords } from "@codex/agent-terminal/text";
import type { SandboxMode, TerminalSize } from "@codex/executor-protocol";
import {
  createProgramRunner,
  OrchestratorError,
  type ProgramRunner,
  type RunCommandRequest,
} from "@codex/orchestrator";
import type { RunRecording } from "@codex/recording";
import type { CredentialArguments } from "@codex/servers";
import { defined, messageOf } from "@codex/values";
import { areEnvironmentsConfigured, attachExecutor, choosePlace } from "../connect.js";
import type { ChosenEnvironment } from "../environments.js";
import { parseExecutorAddress } from "../executor-address.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { endAs, followProgram } from "../foreground/follow-program.js";
import { createOutages } from "../foreground/outages.js";
import { DEFAULT_SIZE, getTerminalSize } from "../foreground/terminal.js";
import { passToTerminal, printLine, say } from "../notice.js";
import { resolveDirectory } from "../own-directory.js";
import { chooseRunSandbox, describeDenial } from "../run-sandbox.js";

export interface RunOptions extends CredentialArguments {
  tty?: boolean;
  executor?: string;
  environment?: string;
  cwd?: string;
  env: string[];
  timeout?: number;
  sandbox?: SandboxMode;
  permissionProfile?: string;
  record?: string;
  recordInput: boolean;
  /** Leave it running. */
  detach?: boolean;
}

/** That of the flags, or the profile of the environment. A profile that is built in is a mode. */
function chooseMode(
  { sandbox, permissionProfile }: RunOptions,
  environmentProfile: ChosenEnvironment["permissionProfile"],
): Parameters<typeof chooseRunSandbox>[0] {
  if (permissionProfile === ":danger-full-access") return "danger-full-access";
  if (permissionProfile !== undefined) return { permissionProfile };
  return sandbox ?? (environmentProfile && { environmentProfile });
}

/** Also where this host is used instead of the environment that names it. */
async function findProfile(chosen: ChosenEnvironment | undefined, options: RunOptions) {
  if (chosen !== undefined || options.executor !== undefined || !areEnvironmentsConfigured()) {
    return chosen?.permissionProfile;
  }
  const { findEnvironmentProfile } = await import("../environment-profile.js");
  return findEnvironmentProfile(options);
}

const STDIN = 0;
const STDOUT = 1;

/** Runs a program through an executor as if it were a local one. */
export async function runRun(argv: string[], options: RunOptions): Promise<void> {
  checkWords(argv);
  // Accessing `process.stdin` creates a stream: only where there is something to read.
  const isTyped = isatty(STDIN);
  const tty = options.tty ?? (isTyped && isatty(STDOUT));
  checkDetach(options);
  // An executor in this process is on this host: the program starts in the user's directory, with the user's environment.
  const chosen = await choosePlace(options, EXIT.lost);
  const own = options.executor === undefined && chosen === undefined;
  const mode = chooseMode(options, await findProfile(chosen, options));
  const cwd = own ? resolveDirectory(options.cwd) : options.cwd;
  // Reading the size opens the streams.
  const size = ((tty || options.record !== undefined) && getTerminalSize()) || DEFAULT_SIZE;
  const recording = await openRecording(argv, size, tty, options);
  const outages = createOutages(say, isTyped ? "Ctrl-C twice or ~. gives up" : "Ctrl-C twice gives up");
  const orchestrator = createProgramRunner(outages.hooks);
  const close = async () => {
    await orchestrator.close();
    await chosen?.close();
  };
  try {
    const hooks = {
      exitCode: EXIT.lost,
      onInterrupted: () => outages.lose("the exec-server cannot be reached"),
      onResumed: outages.restore,
      withoutSandbox: mode === undefined,
      lendsOutput: true,
    };
    const { host } = await attachExecutor(orchestrator, "run", options, hooks, chosen);
    const sandboxed = await chooseRunSandbox(mode, { host, cwd, isOwn: own });
    const request: RunCommandRequest = {
      argv,
      ...defined({ cwd }),
      env: parseEnv(options.env, tty),
      envPolicy: { inherit: "all", ignoreDefaultExcludes: own, exclude: [], set: {}, includeOnly: [] },
      tty,
      stdin: isNullDevice(STDIN) || options.detach === true ? "null" : "open",
      ...(tty ? { size } : {}),
      ...sandboxed,
      ...(options.timeout === undefined ? {} : { timeoutMs: Math.ceil(options.timeout * 1000) }),
    };
    if (options.detach === true) return await leaveRunning(orchestrator, request, options);
    const followed = await followProgram(orchestrator, request, { recording, outages, say }).catch((cause: unknown) => {
      // The executor cannot do what is asked for: nothing was run.
      throw cause instanceof OrchestratorError ? new CommandError(cause.message, EXIT.lost, { cause }) : cause;
    });
    const { outcome } = followed;
    if (outcome.kind === "ended" && outcome.denial !== undefined) say(describeDenial(outcome.denial));
    await endAs(followed, close);
  } finally {
    await close();
  }
}

/** An executor of this process ends with it. @throws CommandError */
function checkDetach({ detach, executor, environment, record }: RunOptions): void {
  if (detach !== true) return;
  if (record !== undefined)
    throw new CommandError("--record and --detach exclude each other: `codex sessions record` records it", EXIT.usage);
  if (executor !== undefined) {
    if (parseExecutorAddress(executor, "--executor").kind !== "command") return;
    throw new CommandError("--detach needs an executor that stays: one on stdio ends with this command", EXIT.usage);
  }
  if (environment === undefined)
    throw new CommandError(
      "--detach needs --executor or --environment: an executor of this command ends with it",
      EXIT.usage,
    );
}

/** Prints the id of its session. @throws CommandError where it was not started */
async function leaveRunning(
  orchestrator: ProgramRunner,
  request: RunCommandRequest,
  options: RunOptions,
): Promise<void> {
  const fail = (cause: unknown) => new CommandError(messageOf(cause), EXIT.notStarted, { cause });
  const left = await orchestrator.startDetached(request).catch((cause: unknown) => fail(cause));
  if (left instanceof CommandError) {
    // At an exec-server there is an executor of this process in between, which ends with it.
    const address = options.executor === undefined ? undefined : parseExecutorAddress(options.executor, "--executor");
    if (
      Reflect.get(Object(left.cause), "code") !== "unsupported" ||
      address === undefined ||
      address.kind === "command"
    )
      throw left;
    const { leaveOnExecServer } = await import("../left-program.js");
    const id = await leaveOnExecServer(address, options, request).catch((cause: unknown) => fail(cause));
    if (id instanceof CommandError) throw id;
    return void printLine(id);
  }
  const { sessionId, result } = left;
  if (sessionId !== undefined) return void printLine(String(sessionId));
  const pass = passToTerminal(process.stdout);
  for (const { text } of result.shown?.output ?? []) pass(Buffer.from(text));
  say("it has ended already");
  process.exitCode = result.exitCode ?? EXIT.lost;
}

/** Node has replaced bytes that are not UTF-8: the program would get another argument. @throws CommandError */
function checkWords(argv: readonly string[]): void {
  const changed = argv.filter((word) => word.includes("\ufffd"));
  if (changed.length === 0) return;
  const given = readGiven();
  const wrong = changed.find((word) => given?.includes(`\0${word}\0`) === false);
  if (wrong === undefined) return;
  throw new CommandError(`the command was not run: argument \`${wrong}\` is not UTF-8`, EXIT.notStarted);
}

/** The arguments of this process as bytes; undefined where the system does not show them. */
function readGiven(): Buffer | undefined {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return undefined;
  }
}

/** Called before the program starts: it must not run unrecorded. @throws CommandError */
async function openRecording(
  argv: readonly string[],
  size: TerminalSize,
  tty: boolean,
  { record, recordInput }: RunOptions,
): Promise<RunRecording | undefined> {
  if (record === undefined && recordInput) throw new CommandError("--record-input needs --record", EXIT.usage);
  if (record === undefined) return undefined;
  const { startRunRecording } = await import("@codex/recording");
  const { openCastFile } = await import("../open-cast-file.js");
  const sink = openCastFile(record, say);
  const terminalType = tty ? process.env.TERM : undefined;
  return startRunRecording(sink, { command: quoteWords(argv), size, terminalType, withInput: recordInput });
}

function parseEnv(pairs: readonly string[], tty: boolean): Record<string, string> {
  const env: Record<string, string> = tty && process.env.TERM !== undefined ? { TERM: process.env.TERM } : {};
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1) throw new CommandError(`--env ${JSON.stringify(pair)}: expected NAME=VALUE`, EXIT.usage);
    env[pair.slice(0, equals)] = pair.slice(equals + 1);
  }
  return env;
}

/** Whether stdin is the null device: the program then starts without input, because not every host can end input later. */
function isNullDevice(fd: number): boolean {
  try {
    const given = fstatSync(fd);
    return given.isCharacterDevice() && given.rdev === statSync(devNull).rdev;
  } catch {
    return false;
  }
}
