import type { ExecCommandRequest } from "@codex/executor-protocol";
import type { ScriptedProcess } from "./scripted-backend.js";
import type { ScriptedHost } from "./scripted-host.js";

/** Starts a scripted session that outlives its first window, which has no length. */
export async function startSession(
  { client, backend, clock }: ScriptedHost,
  request: Partial<ExecCommandRequest> = {},
): Promise<{ id: number; process: ScriptedProcess }> {
  const index = backend.processes.length;
  const waiting = clock.waiting + (request.timeoutMs === undefined ? 1 : 2);
  const answer = client.exec({ command: ["scripted"], yieldTimeMs: 0, ...request });
  const process = await backend.started(index);
  await clock.untilWaiting(waiting);
  clock.advance(0);
  const id = (await answer).result.processId;
  if (id === undefined) throw new Error("the session did not outlive its first window");
  return { id, process };
}
