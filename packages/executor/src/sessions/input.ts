import { type Clock, waitAtMost } from "@codex/clock";
import type { ProcessSignal } from "@codex/exec-backend";
import { ProcessError, WriteError } from "@codex/exec-backend";
import type { SessionSignal, WriteStdinRequest } from "@codex/executor-protocol";
import { messageOf } from "@codex/values";
import { SessionError, ToolError } from "../errors.js";
import { WRITTEN } from "./collect.js";
import type { Session } from "./session.js";

/** Input being written to a program. The write may take longer than the call. */
export interface SentInput {
  /** One of them aborts when some of the input can never be delivered. */
  readonly failures: readonly AbortSignal[];
  /** Resolves when the program has read all of the input, or never will. Never rejects. */
  readonly settled: Promise<void>;
  /** Waits until it has settled, for at most `ms` milliseconds. */
  settleWithin(ms: number, clock: Clock): Promise<void>;
  /** Problems so far, one sentence each. @throws ToolError when none of the input was read and none will be */
  getNotices(): string[];
}

const SIGNALS = {
  interrupt: "SIGINT",
  terminate: "SIGTERM",
  kill: "SIGKILL",
  hangup: "SIGHUP",
} satisfies Record<SessionSignal, ProcessSignal>;

/** The byte that a terminal sends for Ctrl-C. */
const INTERRUPT = 3;

/** Applies a request to a session, in the order size, input, end of input, signal. @throws ToolError */
export async function sendInput(session: Session, request: WriteStdinRequest, maxWaiting: number): Promise<SentInput> {
  const notices: string[] = [];
  const bytes = decodeInput(request);
  const ended = session.process.outcome.kind !== "running";
  if (request.resize !== undefined) await resize(session, request.resize);
  let written = NO_INPUT;
  if (bytes.length > 0 && ended) {
    notices.push(`the process had ended: 0 of ${bytes.length} bytes of input were written`);
  } else if (bytes.length === 1 && bytes[0] === INTERRUPT && session.stdio.kind === "pipe") {
    await sendSignal(session, "SIGINT", notices);
  } else if (bytes.length > 0) {
    written = writeInput(session, bytes, maxWaiting);
    if (session.stdio.kind === "pty") notices.push(...describeLongLine(session, bytes));
  }
  const isOnlyAction = bytes.length === 0 && request.resize === undefined && request.signal === undefined;
  let closed = NO_INPUT;
  if (request.closeStdin === true && !ended) {
    if (hasStdin(session)) closed = closeInput(session, isOnlyAction);
    else notices.push("stdin of this session was never open");
  }
  if (request.signal !== undefined && !(await sendSignal(session, SIGNALS[request.signal], notices))) {
    notices.push(`there is no process left for the signal \`${request.signal}\``);
  }
  return {
    get failures() {
      return [...written.failures, ...closed.failures];
    },
    settled: closed === NO_INPUT ? written.settled : Promise.all([written.settled, closed.settled]).then(() => {}),
    settleWithin: (ms, clock) => written.settleWithin(ms, clock),
    getNotices: () => [...notices, ...written.getNotices(), ...closed.getNotices()],
  };
}

/** A program that reads lines gets no more of a line than its terminal keeps, also of one written in several calls; one that reads keys gets everything. */
function describeLongLine(session: Session, bytes: Uint8Array): string[] {
  const longest = session.input.noteLines(bytes);
  if (longest <= MAX_TERMINAL_LINE_BYTES) return [];
  return [
    `a line of ${longest} bytes was written to a terminal: of a line, a program that reads lines (\`read\`, \`cat\`) gets ` +
      `${MAX_TERMINAL_LINE_BYTES} bytes, and the rest was not delivered; a pipe (tty: false) or shorter lines have no such limit`,
  ];
}

/** Bytes of a line that a terminal in line mode keeps, without the line's end; as in Linux. */
const MAX_TERMINAL_LINE_BYTES = 4095;

const NO_INPUT: SentInput = {
  failures: [],
  settled: Promise.resolve(),
  settleWithin: async () => {},
  getNotices: () => [],
};

/** False when there is no process for it. What is not known of a far host is a notice: other parts of the call were carried out. */
async function sendSignal({ process }: Session, signal: ProcessSignal, notices: string[]): Promise<boolean> {
  try {
    return await process.signal(signal);
  } catch (error) {
    if (!(error instanceof ProcessError) || error.code !== "unknown") throw error;
    notices.push(error.message);
    return true;
  }
}

function decodeInput({ input, inputEncoding }: WriteStdinRequest): Buffer {
  if (inputEncoding !== "base64") return Buffer.from(input);
  if (input.length % 4 === 0 && BASE64.test(input)) return Buffer.from(input, "base64");
  throw new ToolError("field `input`: expected base64");
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const hasStdin = ({ stdio }: Session): boolean => stdio.kind === "pty" || stdio.stdin === "open";

async function resize(session: Session, size: { rows: number; cols: number }): Promise<void> {
  try {
    await session.process.resize(size);
    session.resized(size);
  } catch (error) {
    throw new SessionError(session.id, `was not resized: ${messageOf(error)}`, { cause: error });
  }
}

function writeInput(session: Session, bytes: Buffer, maxWaiting: number): SentInput {
  if (!hasStdin(session)) {
    throw new ToolError('stdin is closed for this session; start it with tty=true, or with stdin="open"');
  }
  const waiting = session.input.waitingBytes;
  if (waiting + bytes.length > maxWaiting) {
    throw new ToolError(
      `input of ${bytes.length} bytes was refused: the program has not read ${waiting} bytes yet, and the limit is ${maxWaiting} bytes`,
    );
  }
  let failure: AbortController | undefined;
  let state: "waiting" | "done" | { error: unknown } = "waiting";
  const taken = session.input.wait(bytes.length);
  const settle = (result: "done" | { error: unknown }) => {
    state = result;
    taken();
    if (result !== "done") failure?.abort(WRITTEN);
  };
  const settled = session.process.write(bytes).then(
    () => settle("done"),
    (error: unknown) => settle({ error }),
  );
  return {
    // Made when it is asked for: most input is taken at once.
    get failures() {
      failure ??= new AbortController();
      if (typeof state === "object") failure.abort(WRITTEN);
      return [failure.signal];
    },
    settled,
    async settleWithin(ms, clock) {
      if (state !== "waiting") return;
      await waitAtMost(clock, ms, settled);
    },
    getNotices() {
      if (state === "done") return [];
      if (state === "waiting" && session.process.outcome.kind !== "running") {
        return [`the process has ended; whether it read all of the ${bytes.length} bytes of input is not known`];
      }
      if (state === "waiting") {
        return [
          `the program has not read all of the ${bytes.length} bytes of input yet; they will be delivered in order`,
        ];
      }
      return [explainFailure(session, bytes.length, state.error)];
    },
  };
}

/** A host that cannot end input is reported: by an error if the call requests nothing else, otherwise by a notice. */
function closeInput(session: Session, isOnlyAction: boolean): SentInput {
  const failure = new AbortController();
  let problem: ProcessError | undefined;
  const settled = session.process.closeStdin().catch((error: unknown) => {
    // Any other failure is caused by the end of the program or its connection, which the outcome reports.
    if (!(error instanceof ProcessError) || error.code !== "unsupported") return;
    problem = error;
    failure.abort(WRITTEN);
  });
  return {
    ...NO_INPUT,
    failures: [failure.signal],
    settled,
    getNotices() {
      if (problem === undefined || session.process.outcome.kind !== "running") return [];
      const notice = `the end of input was not sent: ${problem.message}; the program may wait for it`;
      if (isOnlyAction) throw new ToolError(notice, { code: problem.code, cause: problem });
      return [notice];
    },
  };
}

function explainFailure(session: Session, size: number, error: unknown): string {
  const taken = error instanceof WriteError ? error.written : 0;
  if (error instanceof WriteError && error.code === "unknown") {
    return `${taken} of ${size} bytes of input are known to have been taken, the others may have been: ${error.message}`;
  }
  if (taken > 0 || session.process.outcome.kind !== "running") {
    return `${taken} of ${size} bytes of input were taken: ${messageOf(error)}`;
  }
  if (error instanceof WriteError && error.code === "stdin_closed") {
    throw new ToolError(`stdin is closed for this session: ${error.message}; 0 of ${size} bytes of input were taken`, {
      cause: error,
    });
  }
  throw new ToolError(`0 of ${size} bytes of input were taken: ${messageOf(error)}`, { cause: error });
}
