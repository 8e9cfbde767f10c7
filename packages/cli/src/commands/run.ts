import { resolve } from "node:path";
import type { SandboxMode, TerminalSize } from "@codex/executor-protocol";
import { createOrchestrator, type OrchestratorOptions } from "@codex/orchestrator";
import { attachExecutor } from "../connect.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { followProgram } from "../follow-program.js";
import type { RunRecording } from "../recording/run-recording.js";
import { chooseRunSandbox, describeDenial } from "../run-sandbox.js";
import { DEFAULT_SIZE, getTerminalSize } from "../terminal.js";
import { visible } from "../visible.js";

export interface RunOptions {
  tty?: boolean;
  executor?: string;
  cwd?: string;
  env: string[];
  timeout?: number;
  sandbox?: SandboxMode;
  record?: string;
  recordInput: boolean;
}

/** Runs a program through an executor, as if it ran here. */
export async function runRun(argv: string[], options: RunOptions): Promise<void> {
  const tty = options.tty ?? Boolean(process.stdin.isTTY && process.stdout.isTTY);
  // An executor of our own is on this host: the program starts where the user is, with all the user has.
  const own = options.executor === undefined;
  const cwd = options.cwd === undefined ? (own ? process.cwd() : undefined) : own ? resolve(options.cwd) : options.cwd;
  const size = getTerminalSize() ?? DEFAULT_SIZE;
  const recording = await openRecording(argv, size, tty, options);
  const orchestrator = createOrchestrator({ policy: "never", ...(process.stderr.isTTY ? TELL_OUTAGES : {}) });
  try {
    const { host } = await attachExecutor(orchestrator, "run", options, { exitCode: EXIT.lost });
    const sandbox = await chooseRunSandbox(options.sandbox, { host, cwd, isOwn: own });
    const { outcome, code } = await followProgram(
      orchestrator,
      {
        argv,
        ...(cwd === undefined ? {} : { cwd }),
        env: parseEnv(options.env, tty),
        envPolicy: { inherit: "all", ignoreDefaultExcludes: own, exclude: [], set: {}, includeOnly: [] },
        tty,
        stdin: "open",
        ...(tty ? { size } : {}),
        ...(sandbox === undefined ? {} : { sandbox }),
        ...(options.timeout === undefined ? {} : { timeoutMs: Math.ceil(options.timeout * 1000) }),
      },
      recording,
    );
    process.exitCode = code;
    if (outcome.kind === "ended" && outcome.denial !== undefined)
      process.stderr.write(`codex: ${visible(describeDenial(outcome.denial))}\n`);
  } finally {
    await orchestrator.close();
  }
}

/** For a person who waits and sees nothing. */
const TELL_OUTAGES: Pick<OrchestratorOptions, "onOffline" | "onOnline"> = {
  onOffline(_executor, reason, reconnecting) {
    if (reconnecting)
      process.stderr.write(`codex: the connection to the executor was lost: ${reason}; connecting again\n`);
  },
  onOnline(_executor, { resumed }) {
    if (resumed) process.stderr.write("codex: connected again\n");
  },
};

/** Before anything is started: a program that was to be recorded must not run without. @throws CommandError */
async function openRecording(
  argv: readonly string[],
  size: TerminalSize,
  tty: boolean,
  { record, recordInput }: RunOptions,
): Promise<RunRecording | undefined> {
  if (record === undefined && recordInput) throw new CommandError("--record-input needs --record", EXIT.usage);
  if (record === undefined) return undefined;
  const { createCastFile } = await import("../recording/cast-file.js");
  const { startRunRecording } = await import("../recording/run-recording.js");
  const sink = createCastFile(record, (problem) => process.stderr.write(`codex: ${problem}\n`));
  const terminalType = tty ? process.env.TERM : undefined;
  return startRunRecording(sink, { argv, size, terminalType, withInput: recordInput });
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
