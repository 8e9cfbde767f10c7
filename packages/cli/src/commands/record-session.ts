import { quoteWords } from "@codex/agent-terminal/text";
import type { RecordedOutput } from "@codex/executor-protocol";
import { createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import { type CastSink, createSessionRecording, createSink } from "@codex/recording";
import { CommandError, EXIT } from "../exit-codes.js";
import { openCastFile } from "../open-cast-file.js";
import { readSession } from "../read-session.js";
import { attachSessions, checkSessionsAddress, type SessionsAddress } from "./sessions.js";

export interface RecordSessionOptions extends SessionsAddress {
  output?: string;
  follow: boolean;
  /** Options of the parent command, which do not apply here. */
  kill?: number;
  read?: number;
  json?: boolean;
}

/** Maximum wait for output per call, milliseconds; the next call follows immediately. */
const WAIT_MS = 60_000;

/** Records the retained output of a session; with `follow` also new output, until the session ends. */
export async function runRecordSession(id: number, options: RecordSessionOptions): Promise<void> {
  const address = checkSessionsAddress(options);
  if (options.kill !== undefined || options.read !== undefined || options.json) {
    throw new CommandError("--kill, --read and --json are not for `record`", EXIT.usage);
  }
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never" } });
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once("SIGINT", onInterrupt);
  process.once("SIGTERM", onInterrupt);
  let closePlace = async () => {};
  try {
    closePlace = await attachSessions(orchestrator, address);
    const first = await readSession(orchestrator, { id, from: 0, waitMs: 0 }, stop.signal);
    const problems: string[] = [];
    const sink = openSink(options.output, (problem) => problems.push(problem));
    await record({ orchestrator, id, sink, follow: options.follow, signal: stop.signal }, first);
    await sink.close();
    if (problems[0] !== undefined) throw new CommandError(problems[0]);
  } finally {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onInterrupt);
    await orchestrator.close();
    await closePlace();
  }
}

const openSink = (path: string | undefined, onProblem: (problem: string) => void): CastSink =>
  path === undefined ? createSink(process.stdout, onProblem) : openCastFile(path, onProblem);

interface RecordContext {
  orchestrator: Orchestrator;
  id: number;
  sink: CastSink;
  follow: boolean;
  signal: AbortSignal;
}

async function record(context: RecordContext, first: RecordedOutput): Promise<void> {
  const { orchestrator, id, sink, follow, signal } = context;
  const recording = createSessionRecording(quoteWords);
  // Without `follow`, output that arrives in the meantime is left out: with a busy program this would never end.
  const isLast = ({ range, end, closed, outcome }: RecordedOutput) => {
    if (follow) return closed && range.to === end && outcome.kind !== "running";
    return closed ? range.to === end : range.to >= first.end;
  };
  let part = first;
  await sink.write(recording.add(part));
  while (!isLast(part) && !signal.aborted) {
    const from = part.range.to;
    const next = await readSession(orchestrator, { id, from, waitMs: follow ? WAIT_MS : 0 }, signal).catch(
      (error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      },
    );
    if (next === undefined) break;
    part = next;
    await sink.write(recording.add(part));
  }
  await sink.write(recording.end(part));
}
