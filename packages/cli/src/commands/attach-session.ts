import { once } from "node:events";
import { waitUnlessAborted } from "@codex/clock";
import type { RecordedOutput, TerminalSize } from "@codex/executor-protocol";
import { createOrchestrator, type Orchestrator, OrchestratorError, type SessionInput } from "@codex/orchestrator";
import { messageOf } from "@codex/values";
import { parseExecutorAddress } from "../executor-address.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { escapeHelp, LineEscapes } from "../foreground/line-escapes.js";
import { createOutages } from "../foreground/outages.js";
import { written } from "../foreground/standard-output.js";
import { getTerminalSize, takeTerminal } from "../foreground/terminal.js";
import type { LeftProgram } from "../left-program-id.js";
import { passToTerminal, say } from "../notice.js";
import { readSession } from "../read-session.js";
import { readStyledScreen, ScreenDrawing } from "../screen-drawing.js";
import { attachSessions, checkSessionsAddress, type SessionsAddress } from "./sessions.js";

/** Maximum wait for output per call, milliseconds; the next call follows immediately. */
const WAIT_MS = 60_000;

/** Options of `codex sessions attach`. */
export interface AttachOptions extends SessionsAddress {
  /** Nothing is typed into the session. */
  readOnly?: boolean;
}

/**
 * Takes up a session at this terminal: draws its screen, passes keys, and resizes it, until it ends or is left with `~.`; it keeps running then. Without a
 * terminal, or with `readOnly`, it prints the output until the end or Ctrl-C. Ends with the session's exit code.
 */
export async function runAttachSession(
  named: number | LeftProgram,
  { readOnly = false, ...options }: AttachOptions,
): Promise<void> {
  if (typeof named !== "number") {
    if (options.executor === undefined)
      throw new CommandError("a program on an exec-server needs --executor", EXIT.usage);
    const { attachToExecServer } = await import("../left-program.js");
    return attachToExecServer(named, parseExecutorAddress(options.executor, "--executor"), { ...options, readOnly });
  }
  const id = named;
  const address = checkSessionsAddress(options);
  const isInteractive = !readOnly && process.stdin.isTTY && process.stdout.isTTY;
  const outages = createOutages(say, isInteractive ? "~. leaves" : "Ctrl-C leaves");
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never" }, ...outages.hooks });
  const stop = new AbortController();
  const onStop = () => stop.abort();
  process.once("SIGINT", onStop);
  process.once("SIGTERM", onStop);
  process.once("SIGHUP", onStop);
  let closePlace = async () => {};
  try {
    closePlace = await attachSessions(orchestrator, address);
    const first = await readSession(orchestrator, { id, from: 0, waitMs: 0 }, stop.signal);
    const show = createDisplay(orchestrator, id, stop.signal);
    const typing =
      isInteractive && first.tty && !isOver(first) ? await type(orchestrator, id, show, onStop) : undefined;
    let part: RecordedOutput | undefined = first;
    // The executor forgets a session when its own orchestrator has received all of it.
    const forget = (error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      throw new CommandError(
        `session ${id} has ended, and its exit code was reported to whoever started it`,
        EXIT.lost,
      );
    };
    const showPart = (read: RecordedOutput) =>
      show.part(read).catch((error: unknown) => {
        // The session may be forgotten once it has ended.
        if (!isOver(read)) throw error;
      });
    try {
      await showPart(first);
      while (part !== undefined && !isOver(part)) {
        const next: Promise<RecordedOutput> = readSession(
          orchestrator,
          { id, from: show.next(part), waitMs: WAIT_MS },
          stop.signal,
        )
          .then(async (read) => {
            if (!stop.signal.aborted) await showPart(read);
            return read;
          })
          .catch(forget);
        // While the connection is lost there is no response: do not wait for one.
        next.catch(() => {});
        part = await waitUnlessAborted(stop.signal, next);
      }
    } finally {
      await typing?.end();
      show.close();
    }
    if (part === undefined) say(`session ${id} keeps running`);
    else process.exitCode = part.exitCode ?? EXIT.failure;
  } finally {
    process.off("SIGINT", onStop);
    process.off("SIGTERM", onStop);
    process.off("SIGHUP", onStop);
    await orchestrator.close();
    await closePlace();
  }
}

const isOver = ({ outcome, closed, range, end }: RecordedOutput): boolean =>
  outcome.kind !== "running" && closed && range.to === end;

/** Passes keys and the size of this terminal to a session, which from now on stays when whoever has started it goes. */
async function type(orchestrator: Orchestrator, id: number, show: Display, leave: () => void) {
  const input = openInput(orchestrator, id);
  const { size: before } = await readStyledScreen(orchestrator, id);
  await input.detach();
  const own = getTerminalSize();
  const resize = (size: TerminalSize) => void input.resize(size).catch(() => {}); // it has ended, as its output shows
  if (own !== undefined && !isSame(own, before)) await input.resize(own).catch(() => {});
  let terminal = takeTerminal(resize);
  const escapes = new LineEscapes();
  const suspend = async () => {
    show.close();
    terminal.restore();
    const continued = once(process, "SIGCONT");
    process.kill(process.pid, "SIGTSTP");
    await continued;
    terminal = takeTerminal(resize);
    await show.again();
  };
  let last = Promise.resolve();
  const take = async (bytes: Buffer): Promise<void> => {
    const { passed, key, rest } = escapes.read(bytes);
    if (passed.length > 0) await input.write(passed).catch((error: unknown) => show.tell([messageOf(error)]));
    if (key === "leave") return leave();
    if (key === "help") await show.tell(escapeHelp("the session keeps running"));
    if (key === "suspend") await suspend();
    if (rest.length > 0) await take(rest);
  };
  const onData = (bytes: Buffer) => {
    last = last.then(() => take(bytes));
  };
  process.stdin.on("data", onData);
  return {
    async end() {
      process.stdin.off("data", onData);
      process.stdin.pause();
      terminal.restore();
      // Whoever has it on another terminal has its size.
      if (own !== undefined && !isSame(own, before)) await input.resize(before).catch(() => {});
      process.stdin.destroy();
    },
  };
}

const isSame = (one: TerminalSize, other: TerminalSize): boolean => one.rows === other.rows && one.cols === other.cols;

/** @throws CommandError */
function openInput(orchestrator: Orchestrator, id: number): SessionInput {
  try {
    return orchestrator.openSessionInput(id);
  } catch (cause) {
    if (!(cause instanceof Error) || cause instanceof OrchestratorError) throw cause;
    throw new CommandError(`${cause.message}; --read-only shows its output`, EXIT.failure, { cause });
  }
}

/** Shows the output of a session. */
interface Display {
  part(part: RecordedOutput): Promise<void>;
  /** Offset of the output that is needed next. */
  next(part: RecordedOutput): number;
  /** Shows lines of this command for some time. */
  tell(lines: readonly string[]): Promise<void>;
  /** Restores the terminal. */
  close(): void;
  /** Draws the screen again, after `close`. */
  again(): Promise<void>;
}

/** Bytes as they are where stdout is no terminal. At one, the screen of a session with a terminal, else text. */
function createDisplay(orchestrator: Orchestrator, id: number, signal: AbortSignal): Display {
  const [toStdout, toStderr] = [passToTerminal(process.stdout), passToTerminal(process.stderr)];
  let drawing: ScreenDrawing | undefined;
  let isScreen = false;
  const draw = async () => {
    drawing ??= new ScreenDrawing(process.stdout);
    await drawing.draw(() => readStyledScreen(orchestrator, id, signal));
  };
  return {
    async part({ tty, chunks, gone }) {
      if (tty && process.stdout.isTTY) {
        isScreen = true;
        return draw();
      }
      for (const { from, to } of gone) say(`bytes ${from}-${to} of the output are gone: they were not retained`);
      for (const { stream, data } of chunks) {
        const [pass, to] = stream === "stderr" ? [toStderr, process.stderr] : [toStdout, process.stdout];
        pass(Buffer.from(data, "base64"));
        if (to.writableNeedDrain) await written(to);
      }
    },
    next: ({ range, end }) => (isScreen ? end : range.to),
    async tell(lines) {
      drawing?.tell(lines);
    },
    close() {
      drawing?.close();
      drawing = undefined;
    },
    again: draw,
  };
}
