import type { Orchestrator } from "@codex/orchestrator";
import { defined } from "@codex/values";
import type { View } from "@codex/view";
import { type AgentObserver, createAgentObserver } from "@codex/view/agent";
import { CommandError } from "../exit-codes.js";
import { say } from "../notice.js";

/** Options of every command that has a view. */
export interface LiveViewOptions {
  view?: boolean;
  viewPort?: number;
  /** The view ends with the run. */
  once?: boolean;
}

/** A view of an agent, which is served once its orchestrator exists. */
export interface LiveView {
  readonly observer: AgentObserver;
  /** Path of the audit log, which the view also shows. */
  auditFile?: string | undefined;
  /** Serves it, and prints the links. @throws CommandError */
  attach(orchestrator: Orchestrator, show?: (line: string) => void): Promise<void>;
  /** After the run: waits until the last page is closed, unless the view ends with the run. */
  untilLeft(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Creates a view for a command with `--view`. Nothing is loaded before `attach`. */
export function createLiveView({ viewPort = 0, once = false }: LiveViewOptions): LiveView {
  const observer = createAgentObserver();
  let view: View | undefined;
  return {
    observer,
    async attach(orchestrator, show = say) {
      const { auditFile } = this;
      if (view === undefined) {
        const { attachView } = await import("@codex/view");
        const options = {
          port: viewPort,
          onStop: () => void observer.stop(),
          onProblem: say,
          ...defined({ auditFile }),
        };
        view = await attachView(orchestrator, options).catch((cause: Error) => {
          throw new CommandError(cause.message, 1, { cause });
        });
        observer.showIn(view);
        show(`view: ${view.url}`);
        return show(`view, for reading only: ${view.readOnlyUrl}`);
      }
      show(`view: ${view.createLink("answer")}`);
    },
    async untilLeft(signal) {
      if (once || view === undefined || view.viewers === 0) return;
      say("the view stays until its last page is closed, or Ctrl-C; --once ends it with the run");
      await view.untilLeft(signal);
    },
    close: async () => view?.close(),
  };
}
