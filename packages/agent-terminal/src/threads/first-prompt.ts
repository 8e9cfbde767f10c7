import type { ThreadLine } from "@codex/agent/node";
import { readThreadReport } from "./thread-report.js";

/** Reads the first prompt of a thread; empty when the start of its file has none. */
export async function readFirstPrompt(lines: AsyncIterable<ThreadLine>): Promise<string> {
  const { turns } = await readThreadReport(takeUntilResponse(lines));
  return turns[0]?.prompt ?? "";
}

/** Yields the lines up to the first response of the model. */
async function* takeUntilResponse(lines: AsyncIterable<ThreadLine>): AsyncGenerator<ThreadLine, void, void> {
  let count = 0;
  for await (const line of lines) {
    yield line;
    count += 1;
    const { type, payload } = line;
    const isResponse = type === "response_item" && payload.role !== "user" && payload.role !== "developer";
    if (isResponse || count >= MAX_LINES) return;
  }
}

/** Maximum lines read for a first prompt. */
const MAX_LINES = 64;
