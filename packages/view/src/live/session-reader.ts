import { type RecordedOutput, recordedOutputSchema } from "@codex/executor-protocol";
import type { Orchestrator } from "@codex/orchestrator";
import { safeParse } from "zod/mini";
import { PART_BYTES } from "../limits.js";

/** The session to read. */
export interface SessionPlace {
  readonly environment: string;
  /** The orchestrator's session id. */
  readonly sessionId: number;
}

/** `gone`: the session no longer exists. `unreachable`: its executor is not connected. */
export type SessionRead =
  | { readonly kind: "output"; readonly output: RecordedOutput }
  | { readonly kind: "gone" }
  | { readonly kind: "unreachable" };

const BYTES_PER_TOKEN = 4;

/** Reads output of a session from an offset on, without consuming it for the model. Never rejects. */
export async function readSession(
  orchestrator: Pick<Orchestrator, "callTool" | "listEnvironments">,
  { environment, sessionId }: SessionPlace,
  { from, waitMs }: { from: number; waitMs: number },
  signal: AbortSignal,
): Promise<SessionRead> {
  const args = {
    session_id: sessionId,
    from,
    chunks: true,
    wait_ms: waitMs,
    max_output_tokens: PART_BYTES / BYTES_PER_TOKEN,
    ...placeOf(orchestrator, environment),
  };
  const options = { sessionScope: "executor", forDisplay: true, signal } as const;
  const result = await orchestrator.callTool("read_output", args, options);
  const parsed = safeParse(recordedOutputSchema, result.structured);
  if (parsed.success) return { kind: "output", output: parsed.data };
  const isGone = result.status === "error" && result.structured.code === "tool_failed";
  return { kind: isGone ? "gone" : "unreachable" };
}

/** Tools accept an environment name only if there are several. */
export function placeOf(
  orchestrator: Pick<Orchestrator, "listEnvironments">,
  environment: string,
): { environment_id?: string } {
  return orchestrator.listEnvironments().length > 1 ? { environment_id: environment } : {};
}
