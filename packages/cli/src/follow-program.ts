import type { Writable } from "node:stream";
import type { ProcessOutcome, SessionSignal, TerminalSize } from "@codex/executor-protocol";
import type { LiveOutput, Orchestrator, RunCommandRequest, RunningCommand, RunOutcome } from "@codex/orchestrator";
import { EXIT } from "./exit-codes.js";
import type { RunRecording } from "./recording/run-recording.js";
import { isOutputLost, written } from "./standard-output.js";
import { getTerminalSize, takeTerminal } from "./terminal.js";

/**
 * Runs a program as if it ran here: streams, signals and the terminal are passed through. Says on stderr what `code`,
 * which this command ends with, would not say.
 */
export async function followProgram(
  orchestrator: Orchestrator,
  request: RunCommandRequest,
  recording?: RunRecording,
): Promise<{ outcome: RunOutcome; code: number }> {
  // Whatever ends this process before it knows: nobody is to take that for a success.
  process.exitCode = EXIT.lost;
  const output = createOutput(() => void running.signal("hangup").catch(() => {}));
  const running = orchestrator.runCommand(request, {
    onOutput: async (piece) => {
      await Promise.all([output.write(piece), recording?.output(piece.stream, piece.bytes)]);
    },
  });
  const release = passThrough(running, request.tty ? request.size : undefined, recording);
  const outcome = await running.ended;
  release();
  await recording?.end(outcome.kind === "ended" ? outcome.exitCode : undefined);
  await output.flush();
  const code = exitCodeOf(outcome);
  return { outcome, code: output.isLost && code === EXIT.ok ? EXIT.lost : code };
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

/**
 * Standard output and error of this process, written in order.
 *
 * @param onGone called once, for a reader that went away, as in `codex run … | head`: what was written would have ended
 *   the program itself here.
 */
function createOutput(onGone: () => void) {
  let isLost = false;
  let isGone = false;
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
    /** A promise is for more room: a reader that is slow holds the program back. */
    write({ stream, bytes, dropped }: LiveOutput): Promise<void> | undefined {
      if (dropped !== undefined) {
        const range = `bytes ${dropped.from}-${dropped.to} of the output are gone: they were not retained`;
        process.stderr.write(`codex: ${range}\n`);
      }
      return writeTo(stream === "stderr" ? process.stderr : process.stdout, bytes);
    },
    async flush() {
      for (const stream of [process.stdout, process.stderr]) await written(stream);
    },
  };
}

/** Undefined when there is room for more. */
function writeTo(stream: Writable, bytes: Uint8Array): Promise<void> | undefined {
  return stream.write(bytes) ? undefined : written(stream);
}

function exitCodeOf(result: RunOutcome): number {
  if (result.kind === "lost") {
    process.stderr.write(`codex: the outcome is unknown: ${result.reason}\n`);
    return EXIT.lost;
  }
  if (result.kind === "refused") {
    process.stderr.write(`codex: ${result.reason}\n`);
    return /(^|: )program `[^`]*` was not found/.test(result.reason) ? EXIT.notFound : EXIT.notStarted;
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
