import { waitUnlessAborted } from "@codex/clock";
import type { RecordedOutput } from "@codex/executor-protocol";
import { createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import { CommandError, EXIT } from "../exit-codes.js";
import { createOutages } from "../foreground/outages.js";
import { written } from "../foreground/standard-output.js";
import { passToTerminal, say } from "../notice.js";
import { readSession } from "../read-session.js";
import { readStyledScreen, ScreenDrawing } from "../screen-drawing.js";
import { attachSessions, checkSessionsAddress, type SessionsAddress } from "./sessions.js";

/** Maximum wait for output per call, milliseconds; the next call follows immediately. */
const WAIT_MS = 60_000;

/** Prints the output of a session until it ends or Ctrl-C, which leaves the session running. Ends with the session's exit code. */
export async function runAttachSession(id: number, options: SessionsAddress): Promise<void> {
  const address = checkSessionsAddress(options);
  const outages = createOutages(say, "Ctrl-C leaves");
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never" }, ...outages.hooks });
  const stop = new AbortController();
  const onStop = () => stop.abort();
  process.once("SIGINT", onStop);
  process.once("SIGTERM", onStop);
  let closePlace = async () => {};
  try {
    closePlace = await attachSessions(orchestrator, address);
    const show = createDisplay(orchestrator, id, stop.signal);
    let part: RecordedOutput | undefined;
    /** Set once the session was found: the executor forgets a session when its own orchestrator has received all of it. */
    const forget = (error: unknown) => {
      if (part === undefined || !(error instanceof CommandError)) throw error;
      throw new CommandError(
        `session ${id} has ended, and its exit code was reported to whoever started it`,
        EXIT.lost,
      );
    };
    try {
      do {
        const from: number = part === undefined ? 0 : show.next(part);
        const waitMs = part === undefined ? 0 : WAIT_MS;
        const next = readSession(orchestrator, { id, from, waitMs }, stop.signal)
          .then(async (read) => {
            if (stop.signal.aborted) return read;
            await show.part(read).catch((error: unknown) => {
              // The session may be forgotten once it has ended.
              if (!isOver(read)) throw error;
            });
            return read;
          })
          .catch(forget);
        // While the connection is lost there is no response: do not wait for one.
        next.catch(() => {});
        part = await waitUnlessAborted(stop.signal, next);
      } while (part !== undefined && !isOver(part));
    } finally {
      show.close();
    }
    if (part === undefined) say(`session ${id} keeps running`);
    else process.exitCode = part.exitCode ?? EXIT.failure;
  } finally {
    process.off("SIGINT", onStop);
    process.off("SIGTERM", onStop);
    await orchestrator.close();
    await closePlace();
  }
}

const isOver = ({ outcome, closed, range, end }: RecordedOutput): boolean =>
  outcome.kind !== "running" && closed && range.to === end;

/** Shows the output of a session. */
interface Display {
  part(part: RecordedOutput): Promise<void>;
  /** Offset of the output that is needed next. */
  next(part: RecordedOutput): number;
  /** Restores the terminal. */
  close(): void;
}

/** Bytes as they are where stdout is no terminal. At one, the screen of a session with a terminal, else text. */
function createDisplay(orchestrator: Orchestrator, id: number, signal: AbortSignal): Display {
  const [toStdout, toStderr] = [passToTerminal(process.stdout), passToTerminal(process.stderr)];
  let drawing: ScreenDrawing | undefined;
  return {
    async part({ tty, chunks, gone }) {
      if (tty && process.stdout.isTTY) {
        drawing ??= new ScreenDrawing(process.stdout);
        return drawing.draw(() => readStyledScreen(orchestrator, id, signal));
      }
      for (const { from, to } of gone) say(`bytes ${from}-${to} of the output are gone: they were not retained`);
      for (const { stream, data } of chunks) {
        const [pass, to] = stream === "stderr" ? [toStderr, process.stderr] : [toStdout, process.stdout];
        pass(Buffer.from(data, "base64"));
        if (to.writableNeedDrain) await written(to);
      }
    },
    next: ({ range, end }) => (drawing === undefined ? range.to : end),
    close: () => drawing?.close(),
  };
}
