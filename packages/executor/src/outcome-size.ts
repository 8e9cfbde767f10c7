import type { ToolCallOutcome } from "@codex/executor-protocol";
import { sizeOfJson } from "@codex/values";

/** Approximate bytes that a result takes in memory: its text, and what is structured. */
export function sizeOfOutcome(outcome: ToolCallOutcome | undefined): number {
  if (outcome?.status !== "success") return Buffer.byteLength(outcome?.message ?? "");
  const texts = outcome.content.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return outcome.structured === undefined ? texts : texts + sizeOfJson(outcome.structured);
}
