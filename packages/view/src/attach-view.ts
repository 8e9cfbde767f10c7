import { setTimeout as delay } from "node:timers/promises";
import type { AgentEvent } from "@codex/agent";
import type { Orchestrator } from "@codex/orchestrator";
import type { ThreadFacts } from "./live/conversation.js";
import { LiveView } from "./live/live-view.js";
import { type ServedView, type ServeOptions, serveView } from "./serve-view.js";

/** Options of `attachView`. */
export interface ViewOptions extends ServeOptions {
  /** Ends the current turn; called when a viewer requests it. */
  readonly onStop?: () => void;
  /** Path of the audit log, whose records and chain state are shown. */
  readonly auditFile?: string;
}

/** A view of an orchestrator. */
export interface View extends ServedView {
  /** Shows an event of an agent. Never waits. */
  show(event: AgentEvent): void;
  /** Shows a message of the user. */
  showPrompt(text: string): void;
  setThread(facts: ThreadFacts): void;
}

/**
 * Serves a page that shows the environments, sessions, calls and approvals of an orchestrator. It listens to events, reads sessions
 * independently of the model, and answers approvals in addition to the approver; its failures affect no call.
 *
 * ```ts
 * const view = await attachView(orchestrator, { port: 0 });
 * console.log(view.url);
 * ```
 * @throws Error naming the address or the option
 */
export async function attachView(orchestrator: Orchestrator, options: ViewOptions = {}): Promise<View> {
  let shown: LiveView | undefined;
  const served = await serveView((sink) => {
    shown = new LiveView(orchestrator, {
      ...sink,
      answers: options.readOnly !== true,
      onStop: options.onStop,
      auditFile: options.auditFile,
      now: Date.now,
      pause: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => {}),
    });
    return shown;
  }, options);
  const conversation = shown?.conversation;
  return Object.defineProperties(served as View, {
    show: { value: (event: AgentEvent) => conversation?.show(event) },
    showPrompt: { value: (text: string) => conversation?.prompt(text) },
    setThread: { value: (facts: ThreadFacts) => conversation?.change({ ...facts, state: "idle" }) },
  });
}
