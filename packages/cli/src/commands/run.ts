import { once } from "node:events";
import { resolve } from "node:path";
import type { ProcessOutcome, SessionSignal, TerminalSize } from "@codex/executor-protocol";
import {
  createOrchestrator,
  type LiveOutput,
  type OrchestratorOptions,
  type RunningCommand,
  type RunOutcome,
} from "@codex/orchestrator";
import { attachExecutor } from "../connect.js";
import { CommandError, EXIT } from "../exit-codes.js";
import type { RunRecording } from "../recording/run-recording.js";
import { getTerminalSize, takeTerminal } from "../terminal.js";

export interface RunOptions {
  tty?: boolean;
  executor?: string;
  cwd?: string;
  env: string[];
  timeout?: number;
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
    await orchestrator.attach({ name: "run", ...attachExecutor(options) });
    const output = createOutput();
    const running = orchestrator.runCommand(
      {
        argv,
        ...(cwd === undefined ? {} : { cwd }),
        env: parseEnv(options.env, tty),
        envPolicy: { inherit: "all", ignoreDefaultExcludes: own, exclude: [], set: {}, includeOnly: [] },
        tty,
        stdin: "open",
        ...(tty ? { size } : {}),
        ...(options.timeout === undefined ? {} : { timeoutMs: Math.ceil(options.timeout * 1000) }),
      },
      {
        onOutput: (piece) => {
          output.write(piece);
          return recording?.output(piece.stream, piece.bytes);
        },
      },
    );
    const release = passThrough(running, tty ? size : undefined, recording);
    const outcome = await running.ended;
    release();
    await recording?.end(outcome.kind === "ended" ? outcome.exitCode : undefined);
    await output.flush();
    process.exitCode = exitCodeOf(outcome);
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

const DEFAULT_SIZE: TerminalSize = { rows: 24, cols: 80 };

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

/**
 * Input, signals and the size of the window go to the program. Returns what undoes it.
 * @param size that its terminal was started with; undefined on pipes.
 */
function passThrough(
  running: RunningCommand,
  size: TerminalSize | undefined,
  recording: RunRecording | undefined,
): () => void {
  const resize = (next: TerminalSize) => {
    recording?.resize(next);
    void running.resize(next).catch(() => {});
  };
  const terminal = size === undefined ? undefined : takeTerminal(resize);
  // It may have changed since the program was started with it.
  const now = size === undefined ? undefined : getTerminalSize();
  if (now !== undefined && (now.rows !== size?.rows || now.cols !== size.cols)) resize(now);
  const passed: [NodeJS.Signals, SessionSignal][] = [
    ["SIGINT", "interrupt"],
    ["SIGTERM", "terminate"],
    ["SIGHUP", "hangup"],
  ];
  const handlers = passed.map(([signal, name]) => {
    const handler = () => void running.signal(name).catch(() => {});
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  void passInput(running, recording);
  return () => {
    terminal?.restore();
    for (const off of handlers) off();
    process.stdin.destroy();
  };
}

/** Reads no faster than the program does. */
async function passInput(running: RunningCommand, recording: RunRecording | undefined): Promise<void> {
  try {
    for await (const bytes of process.stdin) {
      recording?.input(bytes as Buffer);
      await running.write(bytes as Buffer);
    }
    await running.closeStdin();
  } catch {
    // The program does not read any more, or has ended: that is told by its outcome.
  }
}

/** Standard output and error of this process, written in order. */
function createOutput() {
  // A reader that went away, as in `codex run … | head`, ends the output, not the program.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return {
    write({ stream, bytes, dropped }: LiveOutput) {
      if (dropped !== undefined) {
        const range = `bytes ${dropped.from}-${dropped.to} of the output are gone: they were not retained`;
        process.stderr.write(`codex: ${range}\n`);
      }
      (stream === "stderr" ? process.stderr : process.stdout).write(bytes);
    },
    async flush() {
      for (const stream of [process.stdout, process.stderr]) {
        if (stream.writableLength > 0 && !stream.destroyed) await once(stream, "drain").catch(() => {});
      }
    },
  };
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

function exitCodeOf(result: RunOutcome): number {
  if (result.kind === "lost") {
    process.stderr.write(`codex: the outcome is unknown: ${result.reason}\n`);
    return EXIT.lost;
  }
  if (result.kind === "refused") {
    process.stderr.write(`codex: ${result.reason}\n`);
    return /not found/.test(result.reason) ? EXIT.notFound : EXIT.notStarted;
  }
  const explained = explain(result.outcome);
  if (explained !== undefined) process.stderr.write(`codex: ${explained}\n`);
  return result.exitCode ?? EXIT.lost;
}

/** What the exit code alone would not say. */
function explain(outcome: ProcessOutcome): string | undefined {
  if (outcome.kind === "signaled" && outcome.by === "timeout") return "the program was ended: its time was over";
  if (outcome.kind === "lost") return `the outcome is unknown: ${outcome.reason}`;
  return undefined;
}
