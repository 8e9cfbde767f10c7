import type { AgentEvent, ContentPart, RunOptions, Thread, ThreadItem, TurnResult } from "@codex/agent";
import type { LastMessageFile } from "./last-message.js";
import type { TurnView } from "./turn-view.js";

/** A turn to run and show. */
export interface ShownTurn {
  readonly thread: Thread;
  readonly prompt: string | readonly ContentPart[];
  readonly view: TurnView;
  /** Gets the last message; emptied where there is none because the turn failed. */
  readonly lastMessage?: LastMessageFile | undefined;
  readonly options?: RunOptions;
}

/** A command that outlived the turn. */
export interface LeftRunning {
  readonly sessionId: number;
  readonly command: string;
  readonly environment: string | undefined;
}

/** What a turn came to, and what it left behind. */
export interface ShownTurnResult extends TurnResult {
  readonly leftRunning: readonly LeftRunning[];
}

/** Runs a turn and shows its events as they come. Never rejects for what a model or tool did. */
export async function runShownTurn({
  thread,
  prompt,
  view,
  lastMessage,
  options = {},
}: ShownTurn): Promise<ShownTurnResult> {
  const running = new Map<number, LeftRunning>();
  const run = thread.run(prompt, options);
  for await (const event of run) {
    noteRunning(running, event);
    await view.show(event);
  }
  const result = await run.result;
  await lastMessage?.write(result.end.type === "turn_completed" ? result.finalMessage : "");
  return { ...result, leftRunning: [...running.values()] };
}

function noteRunning(running: Map<number, LeftRunning>, event: AgentEvent): void {
  if (event.type !== "item_completed" || event.item.kind !== "command") return;
  const { sessionId, command, environment, outcome }: Extract<ThreadItem, { kind: "command" }> = event.item;
  if (sessionId === undefined) return;
  if (outcome?.kind === "running") running.set(sessionId, { sessionId, command, environment });
  else running.delete(sessionId);
}
