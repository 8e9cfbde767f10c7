import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type ByteRange, describeLimit, describeReached } from "@codex/executor-protocol";
import type { LiveOutput, ProgramRunner, RunCommandRequest, RunOutcome } from "@codex/orchestrator";
import type { RunRecording } from "@codex/recording";
import { EXIT } from "./exit-codes.js";
import { LEAVE_GRACE_MS } from "./limits.js";
import { createOutages, type Outages } from "./outages.js";
import { passThrough, type Say } from "./pass-through.js";
import { isOutputLost, written } from "./standard-output.js";

/** How the program is followed. */
export interface FollowProgramOptions {
  recording?: RunRecording | undefined;
  /** Tracks whether the executor can be reached; default: always. */
  outages?: Outages;
  /** Shows the user a notice, one line; it may contain text of the executor, so control characters need escaping. */
  say: Say;
}

/** How a program ended, and how this command ends: with `code`, or by `signal` if it is set. */
export interface Followed {
  outcome: RunOutcome;
  code: number;
  signal: NodeJS.Signals | undefined;
  /** The signal comes from Ctrl-C in the program's terminal: it ends the foreground processes of this terminal as well. */
  isTyped: boolean;
  /** The user gave up on an executor that does not respond. */
  isLeft: boolean;
}

/**
 * Runs a program as if it were local: streams, signals and the terminal are passed through. Reports on stderr what the exit
 * code alone would not convey. Sets `process.exitCode` to `EXIT.lost` until the outcome is known.
 */
export async function followProgram(
  orchestrator: Pick<ProgramRunner, "runCommand">,
  request: RunCommandRequest,
  { recording, outages = createOutages(() => {}, ""), say }: FollowProgramOptions,
): Promise<Followed> {
  // Whatever ends this process before the outcome is known must not look like a success.
  process.exitCode = EXIT.lost;
  const output = createOutput(say, () => void running.signal("hangup").catch(() => {}));
  const running = orchestrator.runCommand(request, {
    onOutput: (piece) => {
      const written = output.write(piece);
      if (piece.dropped !== undefined) recording?.gap(piece.dropped);
      const recorded = recording?.output(piece.stream, piece.bytes);
      return recorded === undefined ? written : Promise.all([written, recorded]);
    },
  });
  const size = request.tty ? request.size : undefined;
  const hasInput = request.tty || request.stdin !== "null";
  const passing = passThrough(running, { size, hasInput, recording, outages, say });
  const end = await Promise.race([running.ended, passing.left]);
  const isLeft = end.kind === "left";
  const outcome: RunOutcome = isLeft ? { kind: "lost", reason: `it was given up with ${end.how}` } : end;
  passing.release(outcome.kind === "lost" || (outcome.kind === "ended" && outcome.outcome.kind === "lost"));
  await recording?.end(outcome.kind === "ended" ? outcome.exitCode : undefined);
  await output.flush();
  if (outcome.kind === "ended") for (const range of outcome.estimated ?? []) say(describeEstimated(range));
  const code = exitCodeOf(outcome, say);
  const signal = isLeft ? end.signal : endingSignal(outcome);
  const isTyped = !isLeft && signal === "SIGINT" && passing.isInterruptTyped;
  const isIncomplete = output.isLost || output.hasGap;
  return { outcome, code: isIncomplete && code === EXIT.ok ? EXIT.lost : code, signal, isTyped, isLeft };
}

const describeEstimated = ({ from, to }: ByteRange): string =>
  `bytes ${from}-${to} of the output: the server does not report how many are missing, so that this is an estimate`;

/** After a program that was ended by SIGINT this command ends by SIGINT too, so that shell loops stop. */
const endingSignal = (outcome: RunOutcome): NodeJS.Signals | undefined =>
  outcome.kind === "ended" &&
  !outcome.timedOut &&
  outcome.outcome.kind === "signaled" &&
  outcome.outcome.signal === "SIGINT"
    ? "SIGINT"
    : undefined;

/** Closes the connection, and ends this process as specified by `followed`. */
export async function endAs({ code, signal, isTyped, isLeft }: Followed, close: () => Promise<void>): Promise<void> {
  process.exitCode = code;
  const closed = close();
  // Do not wait for an executor that does not respond.
  await (isLeft ? Promise.race([closed, sleep(LEAVE_GRACE_MS)]) : closed);
  // A shell that runs a script stops only when it gets SIGINT itself, as it would from the terminal: 0 is the process group.
  if (signal !== undefined) process.kill(isTyped ? 0 : process.pid, signal);
  if (isLeft) process.exit();
}

/**
 * Standard output and error of this process, written in order.
 *
 * @param onGone called once when the reader has gone, as in `codex run … | head`: a local program would have got SIGPIPE.
 */
function createOutput(say: Say, onGone: () => void) {
  let isLost = false;
  let hasGap = false;
  let isGone = false;
  /** Opened with the first write: a stream that is never written to may be closed. */
  const used = new Set<Writable>();
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error) => {
      isLost ||= isOutputLost(error);
      if (isGone || isOutputLost(error)) return;
      isGone = true;
      onGone();
    });
  }
  return {
    get isLost() {
      return isLost;
    },
    /** Some of the output is missing. */
    get hasGap() {
      return hasGap;
    },
    /** Returns a promise while the write is pending: a slow reader applies back-pressure to the program. */
    write({ stream, bytes, dropped }: LiveOutput): Promise<void> | undefined {
      if (dropped !== undefined) {
        hasGap = true;
        say(`bytes ${dropped.from}-${dropped.to} of the output are gone: they were not retained`);
      }
      const to = stream === "stderr" ? process.stderr : process.stdout;
      used.add(to);
      return writeTo(to, bytes);
    },
    async flush() {
      for (const stream of used) await written(stream);
    },
  };
}

/** Undefined when the bytes are written and their memory may be reused. */
function writeTo(stream: Writable, bytes: Uint8Array): Promise<void> | undefined {
  stream.write(bytes);
  return stream.writableLength === 0 ? undefined : written(stream);
}

function exitCodeOf(result: RunOutcome, say: Say): number {
  if (result.kind === "lost") {
    say(`the outcome is unknown: ${result.reason}`);
    return EXIT.lost;
  }
  if (result.kind === "refused") {
    say(result.reason);
    return result.code === "program_not_found" ? EXIT.notFound : EXIT.notStarted;
  }
  if (result.timedOut) {
    say("the program exceeded its time limit and was ended");
    return EXIT.timedOut;
  }
  if (result.outcome.kind === "failed_to_start") {
    // The caller reports a denial.
    if (result.denial === undefined) say(`the command was not run: ${result.outcome.reason}`);
    return EXIT.notStarted;
  }
  for (const reached of result.reachedLimits ?? []) say(describeReached(reached));
  if (result.outcome.kind === "signaled" && result.outcome.limit !== undefined)
    say(`the program was ended by its ${describeLimit(result.outcome.limit)}`);
  if (result.outcome.kind === "lost") say(`the outcome is unknown: ${result.outcome.reason}`);
  return result.exitCode ?? EXIT.lost;
}
