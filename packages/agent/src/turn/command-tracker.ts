import type { UnifiedExecResult } from "@codex/executor-protocol";
import type { AnyStructured, LiveOutput, RefusedCall, ToolCallResult } from "@codex/orchestrator";
import { defined, evictOldest } from "@codex/values";
import type { AgentEvent } from "../events/agent-event.js";
import { OutputText } from "../events/output-text.js";
import type { CommandDetails, ItemStatus } from "../events/thread-item.js";
import { joinWords } from "./shell-words.js";

/** Options of {@link CommandTracker}. */
export interface CommandTrackerOptions {
  readonly emit: (event: AgentEvent) => Promise<void>;
  readonly nextItemId: () => string;
  readonly shownOutputChars: number;
  readonly trackedSessions: number;
  /** How a session has ended, or was lost, without the model having been told; undefined while it runs. */
  readonly findEnd: (sessionId: number) => CommandDetails["outcome"];
}

/** A command as requested by a call. */
export interface StartedCommand {
  readonly callId: string;
  readonly command: string;
  readonly shownCommand: string;
  readonly cwd: string | undefined;
  readonly environment: string | undefined;
}

interface TrackedCommand {
  readonly started: StartedCommand;
  readonly text: OutputText;
  readonly decoder: InstanceType<typeof TextDecoder>;
  itemId: string;
  bytes: number;
  sessionId: number | undefined;
  isShown: boolean;
  /** Decision about the call that started it. */
  decided: Pick<CommandDetails, "decidedBy" | "rule">;
}

/**
 * Shows commands as items, each from start to end, possibly over several calls. A command that still runs at the end of a turn
 * is completed as running; a call that reads it in a later turn shows it as a new item.
 */
export class CommandTracker {
  readonly #options: CommandTrackerOptions;
  readonly #sessions = new Map<number, TrackedCommand>();
  readonly #shown = new Set<TrackedCommand>();

  constructor(options: CommandTrackerOptions) {
    this.#options = options;
  }

  /** Shows a command before its call. */
  async start(started: StartedCommand): Promise<TrackedCall> {
    const tracked: TrackedCommand = {
      started,
      text: new OutputText(this.#options.shownOutputChars),
      decoder: new TextDecoder(),
      itemId: "",
      bytes: 0,
      sessionId: undefined,
      isShown: false,
      decided: {},
    };
    await this.#show(tracked);
    return this.#callOf(tracked);
  }

  /** Returns the command of a session; undefined when unknown. */
  async resume(sessionId: number): Promise<TrackedCall | undefined> {
    const tracked = this.#sessions.get(sessionId);
    if (tracked === undefined) return undefined;
    if (!tracked.isShown) await this.#show(tracked);
    return this.#callOf(tracked);
  }

  /** Completes a session that was ended by another call, such as `kill_session`. */
  async ended(sessionId: number, outcome: CommandDetails["outcome"]): Promise<void> {
    const tracked = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    if (tracked?.isShown === true) await this.#complete(tracked, "failed", { outcome, exitCode: codeOf(outcome) });
  }

  /** Environment of a session; undefined when unknown. */
  environmentOf = (sessionId: number): string | undefined => this.#sessions.get(sessionId)?.started.environment;

  /** Completes all items that are still in progress, at the end of a turn. */
  async settle(): Promise<void> {
    for (const tracked of [...this.#shown]) {
      const { sessionId } = tracked;
      const end =
        sessionId === undefined
          ? { kind: "lost" as const, reason: "the turn ended before its response", lastSeq: 0 }
          : this.#options.findEnd(sessionId);
      const status = end === undefined ? "in_progress" : codeOf(end) === 0 ? "completed" : "failed";
      await this.#complete(tracked, status, { exitCode: codeOf(end), outcome: end ?? { kind: "running" } });
    }
  }

  #callOf(tracked: TrackedCommand): TrackedCall {
    let seen = false;
    return {
      onOutput: (output) => {
        seen = true;
        return this.#append(tracked, output);
      },
      finish: (result, decided) => {
        if (decided?.decidedBy !== undefined) tracked.decided = decided;
        return this.#finish(tracked, result, seen);
      },
    };
  }

  async #show(tracked: TrackedCommand): Promise<void> {
    tracked.itemId = this.#options.nextItemId();
    tracked.isShown = true;
    this.#shown.add(tracked);
    const item = this.#describe(tracked, "in_progress", { exitCode: undefined, outcome: undefined });
    await this.#options.emit({ type: "item_started", item });
  }

  async #append(tracked: TrackedCommand, { bytes, offset, dropped }: LiveOutput): Promise<void> {
    tracked.bytes = offset + bytes.length;
    // What was before the gap is complete.
    const before = dropped === undefined ? "" : tracked.decoder.decode();
    const gap = dropped === undefined ? "" : `${before}\n[bytes ${dropped.from} to ${dropped.to} are gone]\n`;
    const text = gap + tracked.decoder.decode(bytes, { stream: true });
    if (text === "") return;
    tracked.text.append(text);
    await this.#options.emit({ type: "item_delta", itemId: tracked.itemId, of: "output", text });
  }

  async #finish(tracked: TrackedCommand, result: ToolCallResult, seen: boolean): Promise<void> {
    if (result.status === "lost") {
      if (tracked.sessionId !== undefined) this.#sessions.delete(tracked.sessionId);
      return this.#complete(tracked, "failed", { exitCode: undefined, outcome: result.structured.outcome });
    }
    if (result.isError) return this.#refused(tracked, result);
    const { structured } = result;
    const body = seen ? undefined : result.output;
    if (body !== undefined && body !== "") {
      tracked.text.append(body);
      await this.#options.emit({ type: "item_delta", itemId: tracked.itemId, of: "output", text: body });
    }
    if (structured === undefined || !isExecResult(structured)) {
      return this.#complete(tracked, "completed", { exitCode: undefined, outcome: undefined });
    }
    tracked.bytes = Math.max(tracked.bytes, structured.range.to);
    if (structured.processId !== undefined && structured.outcome.kind === "running") {
      this.#follow(tracked, structured.processId);
      return;
    }
    if (tracked.sessionId !== undefined) this.#sessions.delete(tracked.sessionId);
    const { exitCode, outcome, sandboxDenial, programs, deniedHosts } = structured;
    await this.#complete(tracked, exitCode === 0 ? "completed" : "failed", {
      exitCode,
      outcome,
      ...defined({ sandboxDenial, programs, deniedHosts }),
    });
  }

  #follow(tracked: TrackedCommand, sessionId: number): void {
    tracked.sessionId = sessionId;
    this.#sessions.set(sessionId, tracked);
    // One that runs is never forgotten; their number is limited where they run.
    evictOldest(this.#sessions, this.#options.trackedSessions, (id) => this.#options.findEnd(id) === undefined);
  }

  /** Completes a command whose start was refused; refused input does not end a session. */
  async #refused(tracked: TrackedCommand, result: RefusedCall): Promise<void> {
    if (tracked.sessionId !== undefined) return;
    const { status, structured } = result;
    const kind = status === "interrupted" ? "cancelled" : status;
    await this.#complete(tracked, kind === "error" ? "failed" : "declined", {
      exitCode: undefined,
      outcome: undefined,
      decision: { kind, reason: structured.reason },
      ...(structured.command === undefined ? {} : { shownCommand: joinWords(structured.command) }),
      ...defined({ cwd: structured.cwd }),
    });
  }

  async #complete(tracked: TrackedCommand, status: ItemStatus, details: Ending): Promise<void> {
    tracked.text.append(tracked.decoder.decode());
    tracked.isShown = false;
    this.#shown.delete(tracked);
    await this.#options.emit({ type: "item_completed", item: this.#describe(tracked, status, details) });
  }

  #describe(tracked: TrackedCommand, status: ItemStatus, details: Ending) {
    const { started, itemId, text, bytes, sessionId, decided } = tracked;
    const session = sessionId === undefined ? {} : { sessionId };
    const shown = { output: text.toString(), outputBytes: bytes };
    return { id: itemId, status, kind: "command" as const, ...started, ...shown, ...session, ...decided, ...details };
  }
}

/** One call of a tracked command. */
export interface TrackedCall {
  onOutput(output: LiveOutput): Promise<void>;
  finish(result: ToolCallResult, decided?: Pick<CommandDetails, "decidedBy" | "rule">): Promise<void>;
}

type Ending = Pick<CommandDetails, "exitCode" | "outcome"> &
  Partial<Pick<CommandDetails, "decision" | "sandboxDenial" | "programs" | "deniedHosts" | "shownCommand" | "cwd">>;

const isExecResult = (structured: AnyStructured): structured is UnifiedExecResult =>
  "outcome" in structured && "range" in structured && "chunkId" in structured;

const codeOf = (outcome: CommandDetails["outcome"]): number | undefined =>
  outcome?.kind === "exited" ? outcome.code : undefined;
