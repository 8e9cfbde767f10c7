import { setTimeout as sleep } from "node:timers/promises";
import type { SessionSignal, TerminalSize } from "@codex/executor-protocol";
import { OrchestratorError, type RunningCommand } from "@codex/orchestrator";
import type { RunRecording } from "@codex/recording";
import { messageOf } from "@codex/values";
import { LEAVE_GRACE_MS, OPEN_INPUT_MS, UNANSWERED_MS } from "./limits.js";
import { escapeHelp, type LineEscape } from "./line-escapes.js";
import type { Outages } from "./outages.js";
import { dropTyped, getTerminalSize, type TakenTerminal, takeTerminal } from "./terminal.js";
import { type InputTarget, passTyped, type TypedInputOptions } from "./typed-input.js";

export interface PassOptions {
  /** Initial size of the program's terminal; undefined on pipes. */
  size: TerminalSize | undefined;
  /** False: the program has no input, and stdin is not read. */
  hasInput: boolean;
  recording?: RunRecording | undefined;
  outages: Outages;
  say: Say;
}

/** Shows the user a notice, one line. */
export type Say = (line: string) => void;

/** The user gave up on an executor that does not respond. */
interface Left {
  kind: "left";
  how: string;
  /** The signal that it corresponds to; undefined for a key sequence. */
  signal?: NodeJS.Signals;
}

export interface Passing {
  left: Promise<Left>;
  /** Whether Ctrl-C was typed into the program's terminal, where this terminal would have signaled its foreground processes. */
  readonly isInterruptTyped: boolean;
  /** Restores the terminal. Pending keys for a program whose end was not seen are dropped. */
  release(isProgramLost: boolean): void;
}

/** Passes input, signals and the window size to the program. */
export function passThrough(running: RunningCommand, options: PassOptions): Passing {
  const { size, hasInput, recording, outages, say } = options;
  const resize = (next: TerminalSize) => {
    recording?.resize(next);
    void running.resize(next).catch(() => {});
  };
  let terminal = size === undefined ? undefined : takeTerminal(resize);
  // The size may have changed since the program was started.
  const now = size === undefined ? undefined : getTerminalSize();
  if (now !== undefined && (now.rows !== size?.rows || now.cols !== size.cols)) resize(now);

  let isInterruptTyped = false;
  const target: InputTarget = {
    write(bytes) {
      recording?.input(bytes);
      isInterruptTyped ||= terminal !== undefined && process.stdin.isTTY && bytes.includes(CTRL_C);
      return running.write(bytes);
    },
    closeStdin: () => running.closeStdin().catch((error: unknown) => reportOpenInput(running, say, error)),
  };
  let leave: (left: Left) => void = () => {};
  const left = new Promise<Left>((resolve) => {
    leave = resolve;
  });
  const onLeave = (how: string) => leave({ kind: "left", how });
  const stopSignals = passSignals(running, options, leave);
  const suspend = () => {
    terminal?.restore();
    process.once("SIGCONT", () => {
      terminal = takeTerminal(resize);
      const size = getTerminalSize();
      if (size !== undefined) resize(size);
    });
    process.kill(process.pid, "SIGTSTP");
  };
  const onKey = (key: LineEscape) => {
    if (key === "help") for (const line of escapeHelp("the program is hung up")) say(line);
    if (key === "suspend") suspend();
    if (key !== "leave") return;
    // As when a terminal is closed. Without a connection its executor ends it later.
    const hungUp = outages.isLost ? Promise.resolve() : running.signal("hangup").then(() => sleep(LEAVE_GRACE_MS));
    // A program that ends by that is seen to end.
    void hungUp.catch(() => {}).then(() => onLeave("~."));
  };
  const keys = terminal === undefined ? {} : { onKey };
  const releaseInput = hasInput ? passInput({ target, outages, say, onLeave, ...keys }) : undefined;
  return {
    left,
    get isInterruptTyped() {
      return isInterruptTyped;
    },
    release(isProgramLost) {
      releaseInput?.(isProgramLost, terminal);
      stopSignals();
    },
  };
}

const CTRL_C = 3;

/** Returns a function that restores stdin. */
function passInput(typed: TypedInputOptions): (isProgramLost: boolean, terminal: TakenTerminal | undefined) => void {
  const { stdin } = process;
  const stopTyped = stdin.isTTY ? passTyped(stdin, typed) : undefined;
  if (stopTyped === undefined) void passPiped(typed.target);
  return (isProgramLost, terminal) => {
    stopTyped?.();
    if (isProgramLost && stdin.isTTY) dropTyped(stdin);
    if (terminal === undefined && stdin.isTTY) stdin.setRawMode(false);
    terminal?.restore();
    stdin.destroy();
  };
}

const PASSED: readonly [NodeJS.Signals, SessionSignal][] = [
  ["SIGINT", "interrupt"],
  ["SIGTERM", "terminate"],
  ["SIGHUP", "hangup"],
];

/** Passes signals to the program. While the executor does not respond they end this command, SIGINT on the second one. */
function passSignals(running: RunningCommand, { outages, say }: PassOptions, leave: (left: Left) => void): () => void {
  let interrupts = 0;
  let waitsSince = 0;
  const handle = (signal: NodeJS.Signals, name: SessionSignal) => {
    const isSilent = outages.isLost || (interrupts > 0 && performance.now() - waitsSince > UNANSWERED_MS);
    if (isSilent && (signal !== "SIGINT" || interrupts > 0)) {
      return leave({ kind: "left", how: signal === "SIGINT" ? "Ctrl-C twice" : signal, signal });
    }
    if (isSilent) say("there is no connection; Ctrl-C again gives up");
    if (signal !== "SIGINT")
      return void running.signal(name).catch((error: unknown) => kill(running, signal, say, error));
    if (interrupts === 0) waitsSince = performance.now();
    interrupts += 1;
    const answered = () => {
      interrupts -= 1;
    };
    void running.signal(name).then(answered, answered);
  };
  const handlers = PASSED.map(([signal, name]) => {
    const handler = () => handle(signal, name);
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const off of handlers) off();
  };
}

/** Kills the program when the host cannot send the signal: an exec-server of Codex 0.169.0 cannot send SIGTERM. */
async function kill(running: RunningCommand, signal: NodeJS.Signals, say: Say, error: unknown): Promise<void> {
  try {
    await running.signal("kill");
    say(`${signal} was not sent: ${messageOf(error)}; the program is killed instead`);
  } catch {
    // It has ended, which its outcome reports.
  }
}

/** Notifies the user that the host cannot close the input, if the program keeps running: it may be waiting for that. */
async function reportOpenInput({ ended }: RunningCommand, say: Say, error: unknown): Promise<void> {
  if (!(error instanceof OrchestratorError) || error.code !== "unsupported") throw error;
  const late = sleep(OPEN_INPUT_MS, "late", { ref: false });
  if ((await Promise.race([ended, late])) !== "late") return;
  say("this server cannot end the program's input; if the program waits for that, press Ctrl-C to end it");
}

/** Forwards piped input, no faster than the program reads it. */
async function passPiped({ write, closeStdin }: InputTarget): Promise<void> {
  try {
    for await (const bytes of process.stdin) await write(bytes as Buffer);
    await closeStdin();
  } catch {
    // The program has closed its input or ended; its outcome reports the latter.
  }
}
