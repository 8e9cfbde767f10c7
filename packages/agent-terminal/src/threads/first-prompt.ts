import type { ThreadLine } from "@codex/agent/node";
import { readThreadReport } from "./thread-report.js";

/** What a thread began with; empty where the beginning of its file does not say. */
export async function readFirstPrompt(lines: AsyncIterable<ThreadLine>): Promise<string> {
  const { turns } = await readThreadReport(takeUntilAnswer(lines));
  return turns[0]?.prompt ?? "";
}

/** The lines up to the first answer of the model. */
async function* takeUntilAnswer(lines: AsyncIterable<ThreadLine>): AsyncGenerator<ThreadLine, void, void> {
  let count = 0;
  for await (const line of lines) {
    yield line;
    count += 1;
    const { type, payload } = line;
    const isAnswer = type === "response_item" && payload.role !== "user" && payload.role !== "developer";
    if (isAnswer || count >= MAX_LINES) return;
  }
}

/** Lines that are read for a first prompt. */
const MAX_LINES = 64;
