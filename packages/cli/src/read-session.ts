import { type RecordedOutput, recordedOutputSchema } from "@codex/executor-protocol";
import type { Orchestrator } from "@codex/orchestrator";
import { safeParse } from "zod/mini";
import { CommandError, EXIT } from "./exit-codes.js";

/**
 * Reads the output of a session of a running executor from an offset, with timestamps and outcome, without consuming it.
 * @param waitMs longest wait for output, milliseconds
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
  throw new CommandError("this executor does not report when output was written", EXIT.failure);
}

/** Replaces the names of model tools by those of commands. */
export const sessionError = (text: string): CommandError =>
  new CommandError(text.replace("list_sessions lists", "`codex sessions list` shows"));
