import { createLocalOrchestrator } from "@codex/local";
import type { Orchestrator } from "@codex/orchestrator";
import { attachView, type View, type ViewOptions } from "@codex/view";
import { onTestFinished } from "vitest";

type LocalOptions = Parameters<typeof createLocalOrchestrator>[0];

/** An orchestrator with an executor of this host, and a view of it. */
export async function openView(
  options: Partial<LocalOptions> = {},
  viewOptions: ViewOptions = {},
): Promise<{ orchestrator: Orchestrator; view: View }> {
  const orchestrator = await createLocalOrchestrator({
    policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
    defaults: { login: false, shell: "sh" },
    ...options,
  });
  onTestFinished(() => orchestrator.close());
  const view = await attachView(orchestrator, viewOptions);
  onTestFinished(() => view.close());
  return { orchestrator, view };
}

/** Starts a command that outlives its first window; its session id. */
export async function startSession(orchestrator: Orchestrator, args: Record<string, unknown>): Promise<number> {
  const result = await orchestrator.callTool("exec_command", { yield_time_ms: 250, ...args });
  if (result.isError || result.structured?.processId === undefined) throw new Error(result.text);
  return result.structured.processId;
}
