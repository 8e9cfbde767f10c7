import { type Clock, waitUnlessAborted } from "@codex/clock";
import { getExitCode } from "@codex/exec-backend";
import type { ByteRange, RecordedOutput, ToolCallOutcome } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import { MAX_RECORDED_BYTES, MAX_RECORDED_CHUNKS } from "../limits.js";
import { getGaps, skipForward } from "../output/slice.js";
import type { Session } from "../sessions/session.js";
import type { SessionCallScope } from "./session-tool.js";

export interface RecordedRequest {
  /** Byte offset. */
  from: number;
  /** Milliseconds to wait for output if there is none yet, and after the end of the output for the exit. */
  waitMs: number;
  budgetBytes: number;
}

/** `read_output` for recordings: bytes, the times at which they were read, and the sizes of the terminal. */
export async function readRecorded(
  session: Session,
  request: RecordedRequest,
  clock: Clock,
  { signal }: Pick<SessionCallScope, "signal">,
): Promise<ToolCallOutcome> {
  const { log } = session.process;
  session.noteFollower(false);
  const from = Math.min(request.from, log.end);
  if (request.waitMs > 0) await waitForOutput(session, from, request.waitMs, clock, signal);
  const { end } = session.state;
  const budget = Math.min(request.budgetBytes, MAX_RECORDED_BYTES);
  const wanted = Math.min(end, skipForward(from, budget, log.getEvicted(from, end)));
  const all = (await log.read(from, wanted)).chunks;
  const chunks = all.slice(0, MAX_RECORDED_CHUNKS);
  const to = chunks.length < all.length ? all[chunks.length]!.offset : wanted;
  const { closed, outcome } = session.state;
  session.noteFollower(closed && outcome.kind !== "running" && to === session.state.end);
  return { status: "success", content: [], structured: describe(session, { from, to }, chunks) };
}

function describe(session: Session, range: ByteRange, chunks: Parameters<typeof getGaps>[0]): RecordedOutput {
  const { sizes, process, state, exitedAt } = session;
  const exitCode = getExitCode(state.outcome);
  const since = (at: number) => Math.max(0, at - process.startedAt);
  const isRead = range.to === state.end;
  const resizes = sizes?.resizes.filter(({ offset }) => offset >= range.from && (isRead || offset < range.to)) ?? [];
  return {
    sessionId: session.id,
    command: [...session.command],
    tty: session.stdio.kind === "pty",
    startedAt: performance.timeOrigin + process.startedAt,
    range,
    ...state,
    ...defined({ exitCode }),
    ...(exitedAt === undefined ? {} : { exitedAt: since(exitedAt) }),
    gone: getGaps(chunks, range),
    chunks: chunks.map(({ offset, at, stream, bytes }) => {
      return { offset, at: since(at), stream, data: bytes.toString("base64") };
    }),
    ...(sizes === undefined ? {} : { size: sizes.first }),
    resizes: resizes.map((resize) => ({ ...resize, at: since(resize.at) })),
  };
}

async function waitForOutput(
  session: Session,
  from: number,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const cancel = clock.after(ms, () => done.abort());
  const { process } = session;
  const over = AbortSignal.any([done.signal, signal]);
  await process.log.waitFor(from, over);
  if (session.state.closed && session.state.end === from) await waitUnlessAborted(over, process.exited);
  cancel();
}
