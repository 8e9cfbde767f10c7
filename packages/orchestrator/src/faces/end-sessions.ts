import { setTimeout as pause } from "node:timers/promises";
import { CONCURRENT_ENDS, END_RETRY_MS } from "../limits.js";
import type { ToolCaller } from "./tool-caller.js";

/**
 * Ends sessions with their descendants, a few at a time, also while other calls take all places of concurrent calls. Resolves when they
 * are gone, or their executor is.
 */
export async function endSessions(
  caller: Pick<ToolCaller, "listTools" | "callTool">,
  ids: Iterable<number>,
): Promise<void> {
  const hasKill = caller.listTools().some(({ name }) => name === "kill_session");
  const waiting = new Set(ids);
  const endOne = (id: number) =>
    hasKill
      ? caller.callTool("kill_session", { session_id: id })
      : caller.callTool("write_stdin", { session_id: id, signal: "kill" });
  const work = async () => {
    for (const id of waiting) {
      waiting.delete(id);
      while (isCrowded(await endOne(id))) await pause(END_RETRY_MS);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_ENDS }, work));
}

const isCrowded = ({ structured }: Awaited<ReturnType<ToolCaller["callTool"]>>): boolean =>
  structured !== undefined && "code" in structured && structured.code === "too_many_calls";
