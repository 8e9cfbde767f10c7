import type { AgentEvent, ContentPart, RunOptions, Thread, ThreadItem, TurnResult } from "@codex/agent";
import type { LastMessageFile } from "./last-message.js";
import type { TurnView } from "./turn-view.js";

/** Options of {@link runShownTurn}. */
export interface ShownTurn {
  readonly thread: Thread;
  readonly prompt: string | readonly ContentPart[];
  readonly view: TurnView;
  /** Receives the last message; emptied when the turn failed. */
  readonly lastMessage?: LastMessageFile | undefined;
  readonly options?: RunOptions;
  /** Transforms messages for display; disables text deltas. Default: unchanged. */
  readonly renderMessage?: ((text: string) => string) | undefined;
}

/** A command that still runs after the turn. */
export interface LeftRunning {
  readonly sessionId: number;
  readonly command: string;
  readonly environment: string | undefined;
}

/** Result of a turn, with commands that still run. */
export interface ShownTurnResult extends TurnResult {
  readonly leftRunning: readonly LeftRunning[];
}

/** Runs a turn and shows its events. Failures of model and tools do not reject. */
export async function runShownTurn({
  thread,
  prompt,
  view,
  lastMessage,
  options = {},
  renderMessage,
}: ShownTurn): Promise<ShownTurnResult> {
  const running = new Map<number, LeftRunning>();
  const run = thread.run(prompt, options);
  for await (const event of run) {
    trackRunning(running, event);
    const shown = renderMessage === undefined ? event : withMessage(event, renderMessage);
    if (shown !== undefined) await view.show(shown);
  }
  const result = await run.result;
  const finalMessage = renderMessage === undefined ? result.finalMessage : renderMessage(result.finalMessage);
  await lastMessage?.write(result.end.type === "turn_completed" ? finalMessage : "");
  return { ...result, finalMessage, leftRunning: [...running.values()] };
}

function withMessage(event: AgentEvent, render: (text: string) => string): AgentEvent | undefined {
  if (event.type === "item_delta" && event.of === "text") return undefined;
  if (event.type !== "item_completed" || event.item.kind !== "message") return event;
  return { ...event, item: { ...event.item, text: render(event.item.text) } };
}

function trackRunning(running: Map<number, LeftRunning>, event: AgentEvent): void {
  if (event.type !== "item_completed" || event.item.kind !== "command") return;
  const { sessionId, command, environment, outcome }: Extract<ThreadItem, { kind: "command" }> = event.item;
  if (sessionId === undefined) return;
  if (outcome?.kind === "running") running.set(sessionId, { sessionId, command, environment });
  else running.delete(sessionId);
}
