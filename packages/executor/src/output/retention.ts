import { DEFAULT_LOG_LIMITS, type OutputLog, type OutputLogLimits } from "@codex/exec-backend";
import type { WhenFull } from "@codex/executor-protocol";
import { MAX_PAUSED_OUTPUT_BYTES, MAX_UNACKNOWLEDGED_OUTPUT_BYTES } from "../limits.js";
import type { LiveReceiver } from "./live-output.js";

/** How much of one session's output is retained, bytes. */
export interface Retention {
  log: OutputLogLimits;
  /** The limits that differ from the defaults of the backend. */
  chosen: Partial<OutputLogLimits>;
  /** Maximum live output in flight; all of it is retained. */
  windowBytes: number;
  /** The same when nothing can be written to disk. */
  memoryWindowBytes: number;
  /** Output not yet received at which the program is paused; undefined if it is not paused for that. */
  pauseBytes: number | undefined;
  /** Whether the memory of output is reused once the channel has written it. */
  pinsUnwritten: boolean;
}

/** @param receiver of the live output, if there is one */
export function getRetention(
  { lendsChunks: lendsInProcess = false, ...limits }: Partial<OutputLogLimits>,
  whenFull: WhenFull = "spill",
  { acknowledges, reportsWritten }: Pick<LiveReceiver, "acknowledges" | "reportsWritten"> = NO_RECEIVER,
): Retention {
  // In this process, a session that is paused when full retains all unacknowledged output, so none of it is overwritten.
  const lendsChunks = reportsWritten || (lendsInProcess && acknowledges && whenFull === "pause");
  const lends = lendsChunks ? { lendsChunks } : {};
  const chosen = { ...limits, ...lends, ...(whenFull === "drop" ? { spillBytes: 0 } : {}) };
  const log = { ...DEFAULT_LOG_LIMITS, ...chosen };
  const memory = Math.floor(log.tailBytes / 2);
  const windowBytes = Math.min(MAX_UNACKNOWLEDGED_OUTPUT_BYTES, Math.max(memory, Math.floor(log.spillBytes / 2)));
  const pauseBytes = whenFull === "pause" ? Math.min(MAX_PAUSED_OUTPUT_BYTES, memory) : undefined;
  return { log, chosen, windowBytes, memoryWindowBytes: memory, pauseBytes, pinsUnwritten: reportsWritten };
}

const NO_RECEIVER = { acknowledges: false, reportsWritten: false };

/** Output after which an orchestrator has to acknowledge, so that no window becomes full, bytes. */
export function getAckBytes(limits: Partial<OutputLogLimits>): number {
  const { pauseBytes = 0, windowBytes } = getRetention({ ...limits, spillBytes: 0 }, "pause");
  return Math.max(1, Math.floor(Math.min(pauseBytes, windowBytes) / 2));
}

/** Why output of a session is missing, as the end of a sentence: it was evicted here, or never came. */
export function explainMissing(log: OutputLog, retention: Retention, whenFull?: WhenFull): string {
  const { skipped } = log;
  const ownReason = () => explainEviction(retention, whenFull, log.spillProblem);
  if (skipped === undefined) return ownReason();
  const missing = log.getEvicted(0).reduce((sum, { from, to }) => sum + to - from, 0);
  return missing === skipped.bytes ? skipped.reason : `${skipped.reason}; ${ownReason()}`;
}

/** Why output of a session was evicted, as the end of a sentence. `spillProblem`: why no more could be written to disk. */
function explainEviction(
  retention: Retention,
  whenFull: WhenFull = "spill",
  spillProblem: string | undefined = undefined,
): string {
  const { headBytes, tailBytes, spillBytes } = retention.log;
  const kept = `the first ${headBytes} and the last ${tailBytes} bytes`;
  if (whenFull === "drop") return `this session drops what is beyond ${kept} (whenFull \`drop\`)`;
  if (spillProblem !== undefined) return `beyond ${kept} it could not be kept on disk: ${spillProblem}`;
  return `beyond ${kept} and ${spillBytes} bytes on disk nothing is retained (whenFull \`${whenFull}\`)`;
}
