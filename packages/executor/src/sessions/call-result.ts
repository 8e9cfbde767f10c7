import type { Clock } from "@codex/clock";
import { getExitCode, type SandboxDenial } from "@codex/exec-backend";
import {
  describeReached,
  estimateTokens,
  type NetworkDenial,
  type ProgramReport,
  type ReachedLimit,
  type ToolCallOutcome,
  type UnifiedExecResult,
  type WaitEnded,
} from "@codex/executor-protocol";
import { defined, quote } from "@codex/values";
import type { Ids } from "../ids.js";
import { type ExecutorLimits, INPUT_RESULT_MS, PROMPT_GUESS_MS } from "../limits.js";
import { decodeOutput } from "../output/decode-output.js";
import { findCharacterEnd, readSlice, type Slice } from "../output/slice.js";
import type { Bounds } from "./bounds.js";
import { waitForLastOutput, waitForWindow } from "./collect.js";
import type { SentInput } from "./input.js";
import type { Session, SessionState } from "./session.js";

export interface ResultContext {
  clock: Clock;
  ids: Ids;
  limits: Pick<ExecutorLimits, "countedBytes">;
  /** Whether the orchestrator asked for live output. */
  isLive(): boolean;
}

export interface Poll {
  requestId: string;
  /** Each ends the wait when it aborts. */
  signals: readonly AbortSignal[];
  /** Start of the wall time, milliseconds on the clock. */
  startedAt: number;
  bounds: Bounds;
  /** Ends the wait at the first byte at or after this offset. */
  outputFrom?: number | undefined;
  /** Ends the wait when the program seems to wait for input. */
  untilPrompt?: boolean;
  input?: SentInput;
}

/**
 * Waits for the window of a call, then returns the output that no result has covered yet. Live output of the same bytes is
 * sent before. @throws ToolError when input could not be delivered; then no output counts as returned.
 */
export async function waitForResult(session: Session, poll: Poll, context: ResultContext): Promise<ToolCallOutcome> {
  const follower = context.isLive() ? session.live.follow(poll.requestId) : undefined;
  try {
    const { input, bounds } = poll;
    // With live output, a paused program is resumed by acknowledgements.
    const { outputFrom = follower === undefined ? session.pausedAt : undefined, untilPrompt = false } = poll;
    const waitEnded = await waitForWindow(session, context.clock, {
      ms: bounds.windowMs,
      signals: [...poll.signals, ...(input?.failures ?? [])],
      outputFrom,
      untilPrompt,
    });
    await waitForLastOutput(session, context.clock);
    if (session.process.outcome.kind !== "running") await input?.settleWithin(INPUT_RESULT_MS, context.clock);
    const notices = [...bounds.notices, ...(input?.getNotices() ?? []), ...describeWait(waitEnded)];
    const { log } = session.process;
    const state = session.state;
    const to = state.closed ? state.end : await findCharacterEnd(log, session.cursor, state.end);
    await follower?.finish(to);
    const budget = { bytes: bounds.budgetBytes, countedBytes: context.limits.countedBytes };
    const slice = await readSlice(log, { from: session.cursor, to }, budget);
    const [programs, hosts] = [session.untoldPrograms, session.untoldHosts];
    session.noteResult({ to, state, isCut: slice.omitted.some(({ reason }) => reason === "budget") });
    const told = { state, slice, notices, startedAt: poll.startedAt, waitEnded, programs, hosts };
    return createResult(session, told, context);
  } finally {
    await follower?.stop();
  }
}

/** The result of a call that does not return output. */
export function createEmptyResult(
  session: Session,
  { startedAt, notices, waitEnded }: { startedAt: number; notices: readonly string[]; waitEnded: WaitEnded },
  context: ResultContext,
): ToolCallOutcome {
  const at = session.cursor;
  const slice: Slice = { range: { from: at, to: at }, chunks: [], omitted: [], lines: undefined };
  return createResult(
    session,
    { state: session.state, slice, notices, startedAt, waitEnded, programs: [], hosts: [] },
    context,
  );
}

/** The result of a command that may or may not have been started. */
export function createLostResult(reason: string, startedAt: number, { clock, ids }: ResultContext): ToolCallOutcome {
  const structured: UnifiedExecResult = {
    chunkId: ids.chunk(),
    wallTimeSeconds: Math.max(0, clock.now() - startedAt) / 1000,
    outcome: { kind: "lost", reason, lastSeq: 0 },
    closed: false,
    range: { from: 0, to: 0 },
    omitted: [],
    originalTokenCount: 0,
    sandboxDenied: false,
  };
  return { status: "success", content: [], structured };
}

function createResult(
  session: Session,
  poll: {
    state: SessionState;
    slice: Slice;
    notices: readonly string[];
    startedAt: number;
    waitEnded: WaitEnded;
    programs: readonly ProgramReport[];
    hosts: readonly NetworkDenial[];
  },
  { clock, ids }: ResultContext,
): ToolCallOutcome {
  const { outcome, closed } = poll.state;
  const { range, omitted, chunks, lines } = poll.slice;
  const exitCode = getExitCode(outcome);
  const denial = outcome.kind === "running" ? undefined : denialOf(session);
  const { endNote } = session;
  const ended = outcome.kind === "running" || endNote === undefined ? [] : [endNote];
  const reached = findReached(session);
  const waiting = session.questions.waiting.map((program) => `waiting for permission: ${quote(program)}`);
  const notices = [
    ...poll.notices,
    ...waiting,
    ...describeGate(session),
    ...describeNetwork(session),
    ...describeDenial(denial),
    ...reached.map(describeReached),
    ...ended,
  ];
  const structured: UnifiedExecResult = {
    chunkId: ids.chunk(),
    wallTimeSeconds: Math.max(0, clock.now() - poll.startedAt) / 1000,
    ...(outcome.kind === "running" ? { processId: session.id } : {}),
    ...defined({ exitCode }),
    outcome,
    ...(session.timedOut && outcome.kind !== "running" ? { timedOut: true } : {}),
    closed,
    range,
    omitted,
    originalTokenCount: estimateTokens(range.to - range.from),
    sandboxDenied: denial?.certain ?? false,
    ...(denial === undefined ? {} : { sandboxDenial: { certain: denial.certain, reason: denial.reason } }),
    ...(reached.length === 0 ? {} : { reachedLimits: reached }),
    waitEnded: poll.waitEnded,
    ...defined({ shellStartup: session.startup }),
    ...(poll.programs.length === 0 ? {} : { programs: [...poll.programs] }),
    ...(poll.hosts.length === 0 ? {} : { deniedHosts: [...poll.hosts] }),
    ...(notices.length === 0 ? {} : { notices }),
    shown: {
      // Only where there is more of it to read.
      ...(closed && !omitted.some(({ reason }) => reason === "budget") ? {} : { sessionId: session.id }),
      ...(isHeldOpen(session) ? { heldOpen: true } : {}),
      ...defined({ evictionReason: session.evictionReason, lines }),
      output: decodeOutput(chunks),
    },
  };
  return { status: "success", content: [], structured };
}

/** Known only for this host: from another one, the end of the output may still be in transit. */
const isHeldOpen = (session: Session): boolean => !session.isRemote && session.quietEnd === session.process.log.end;

/** A program that a rule refused is told as such: what its caller prints of it is no sign of the sandbox. */
function denialOf({ process: { denial, gate } }: Session): SandboxDenial | undefined {
  const wasRefused = gate?.kind === "held" && gate.reports.some(({ decision }) => decision === "refused");
  return denial?.certain === false && wasRefused ? undefined : denial;
}

/** Told with the first result of a session, and with the last what was too much to tell. */
function describeGate({ process, isEstablished, state }: Session): string[] {
  const { gate } = process;
  if (gate === undefined) return [];
  if (gate.kind === "missing") {
    return isEstablished
      ? []
      : [`rules hold for what the text of a command shows, not for each program that it starts: ${gate.reason}`];
  }
  if (gate.omitted === 0 || state.outcome.kind === "running") return [];
  return [`${gate.omitted} more programs did not run as they were called`];
}

/** Told with the last result. */
function describeNetwork({ process: { network }, state }: Session): string[] {
  if (network === undefined || network.omitted === 0 || state.outcome.kind === "running") return [];
  return [`${network.omitted} more connections were not made: to other hosts, which are not listed`];
}

/** Known with the last result; the limit that has ended the process is told by the outcome. */
function findReached({ process: { resources }, state: { outcome } }: Session): ReachedLimit[] {
  if (resources === undefined || outcome.kind === "running") return [];
  const told = outcome.kind === "signaled" ? outcome.limit?.name : undefined;
  return resources.reached.filter(({ name }) => name !== told);
}

/** A guess is reported as one. */
function describeDenial(denial: SandboxDenial | undefined): string[] {
  if (denial === undefined) return [];
  return [denial.certain ? denial.reason : `going by the output alone: ${denial.reason}`];
}

function describeWait(waitEnded: WaitEnded): string[] {
  if (waitEnded === "prompt") return ["the program seems to wait for input"];
  if (waitEnded !== "quiet") return [];
  return [
    `there was no output for ${PROMPT_GUESS_MS} ms; whether the program waits for input cannot be determined on this host`,
  ];
}
