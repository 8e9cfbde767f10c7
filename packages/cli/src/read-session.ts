import { type RecordedOutput, recordedOutputSchema } from "@codex/executor-protocol";
import type { Orchestrator } from "@codex/orchestrator";
import { safeParse } from "zod/mini";
import { CommandError, EXIT } from "./exit-codes.js";

/**
 * What a session of a running executor wrote from an offset on, when and how it ended. Takes nothing away from its own
 * orchestrator. @param waitMs the longest wait for output where there is none yet
 */
export async function readSession(
  orchestrator: Orchestrator,
  { id, from, waitMs }: { id: number; from: number; waitMs: number },
  signal: AbortSignal,
): Promise<RecordedOutput> {
  const args = { session_id: id, from, chunks: true, wait_ms: waitMs };
  const result = await orchestrator.callTool("read_output", args, { sessionScope: "executor", signal });
  if (result.isError) throw sessionError(result.text);
  const parsed = safeParse(recordedOutputSchema, result.structured);
  if (parsed.success) return parsed.data;
  throw new CommandError("this executor does not tell when output was written", EXIT.failure);
}

/** An executor names the tools of a model; a person has commands. */
export const sessionError = (text: string): CommandError =>
  new CommandError(text.replace("list_sessions lists", "`codex sessions list` tells"));
