import type { UnifiedExecResult } from "@codex/executor-protocol";
import type { AnyStructured, LiveOutput, RefusedCall, ToolCallResult } from "@codex/orchestrator";
import type { AgentEvent } from "../events/agent-event.js";
import { OutputText } from "../events/output-text.js";
import type { CommandDetails, ItemStatus } from "../events/thread-item.js";
import { joinWords } from "./shell-words.js";

/** What the commands of a thread need. */
export interface CommandsOptions {
  readonly emit: (event: AgentEvent) => Promise<void>;
  readonly nextItemId: () => string;
  readonly shownOutputChars: number;
  readonly followedSessions: number;
}

/** A command as a call starts it. */
export interface StartedCommand {
  readonly callId: string;
  readonly command: string;
  readonly shownCommand: string;
  readonly cwd: string | undefined;
  readonly environment: string | undefined;
}

interface Followed {
  readonly started: StartedCommand;
  readonly text: OutputText;
  readonly decoder: InstanceType<typeof TextDecoder>;
  itemId: string;
  bytes: number;
  sessionId: number | undefined;
  isShown: boolean;
  /** What decided about the call that started it. */
  decided: Pick<CommandDetails, "decidedBy" | "rule">;
}

/**
 * Commands as items, each from its start to its end over however many calls. What still runs when a turn ends is completed
 * as running; a call that reads it in a later turn shows it anew.
 */
export class Commands {
  readonly #options: CommandsOptions;
  readonly #sessions = new Map<number, Followed>();
  readonly #shown = new Set<Followed>();

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /** Shows a command that is about to be called. */
  async start(started: StartedCommand): Promise<FollowedCall> {
    const followed: Followed = {
      started,
      text: new OutputText(this.#options.shownOutputChars),
      decoder: new TextDecoder(),
      itemId: "",
      bytes: 0,
      sessionId: undefined,
      isShown: false,
      decided: {},
    };
    await this.#show(followed);
    return this.#callOf(followed);
  }

  /** The command of a session that is read or typed into; undefined for one that is not known. */
  async resume(sessionId: number): Promise<FollowedCall | undefined> {
    const followed = this.#sessions.get(sessionId);
    if (followed === undefined) return undefined;
    if (!followed.isShown) await this.#show(followed);
    return this.#callOf(followed);
  }

  /** A session that was ended otherwise than by a call that reads it. */
  async ended(sessionId: number, outcome: CommandDetails["outcome"]): Promise<void> {
    const followed = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    if (followed?.isShown === true) await this.#complete(followed, "failed", { outcome, exitCode: codeOf(outcome) });
  }

  /** Environment of a session; undefined for one that is not known. */
  environmentOf = (sessionId: number): string | undefined => this.#sessions.get(sessionId)?.started.environment;

  /** The turn ends: what is shown as started is completed, as what it is. */
  async settle(): Promise<void> {
    for (const followed of [...this.#shown]) {
      const running = followed.sessionId !== undefined;
      await this.#complete(followed, running ? "in_progress" : "failed", {
        exitCode: undefined,
        outcome: running
          ? { kind: "running" }
          : { kind: "lost", reason: "the turn ended before its answer", lastSeq: 0 },
      });
    }
  }

  #callOf(followed: Followed): FollowedCall {
    let seen = false;
    return {
      onOutput: (output) => {
        seen = true;
        return this.#append(followed, output);
      },
      finish: (result, decided) => {
        if (decided?.decidedBy !== undefined) followed.decided = decided;
        return this.#finish(followed, result, seen);
      },
    };
  }

  async #show(followed: Followed): Promise<void> {
    followed.itemId = this.#options.nextItemId();
    followed.isShown = true;
    this.#shown.add(followed);
    const item = this.#describe(followed, "in_progress", { exitCode: undefined, outcome: undefined });
    await this.#options.emit({ type: "item_started", item });
  }

  async #append(followed: Followed, { bytes, offset, dropped }: LiveOutput): Promise<void> {
    followed.bytes = offset + bytes.length;
    const gap = dropped === undefined ? "" : `\n[bytes ${dropped.from} to ${dropped.to} are gone]\n`;
    const text = gap + followed.decoder.decode(bytes, { stream: true });
    if (text === "") return;
    followed.text.append(text);
    await this.#options.emit({ type: "item_delta", itemId: followed.itemId, of: "output", text });
  }

  async #finish(followed: Followed, result: ToolCallResult, seen: boolean): Promise<void> {
    if (result.status === "lost") {
      if (followed.sessionId !== undefined) this.#sessions.delete(followed.sessionId);
      return this.#complete(followed, "failed", { exitCode: undefined, outcome: result.structured.outcome });
    }
    if (result.isError) return this.#refused(followed, result);
    const { structured } = result;
    // An executor without live output: its text has what there was.
    const body = seen ? undefined : /^Output:\n([\s\S]*)$/m.exec(result.text)?.[1];
    if (body !== undefined && body !== "") {
      followed.text.append(body);
      await this.#options.emit({ type: "item_delta", itemId: followed.itemId, of: "output", text: body });
    }
    if (structured === undefined || !isExecResult(structured)) {
      return this.#complete(followed, "completed", { exitCode: undefined, outcome: undefined });
    }
    followed.bytes = Math.max(followed.bytes, structured.range.to);
    if (structured.processId !== undefined && structured.outcome.kind === "running") {
      this.#follow(followed, structured.processId);
      return;
    }
    if (followed.sessionId !== undefined) this.#sessions.delete(followed.sessionId);
    const { exitCode, outcome, sandboxDenial } = structured;
    await this.#complete(followed, exitCode === 0 ? "completed" : "failed", {
      exitCode,
      outcome,
      ...(sandboxDenial === undefined ? {} : { sandboxDenial }),
    });
  }

  #follow(followed: Followed, sessionId: number): void {
    followed.sessionId = sessionId;
    this.#sessions.set(sessionId, followed);
    if (this.#sessions.size <= this.#options.followedSessions) return;
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }

  /** A session outlives input that was refused. */
  async #refused(followed: Followed, result: RefusedCall): Promise<void> {
    if (followed.sessionId !== undefined) return;
    const { status, structured } = result;
    const kind = status === "interrupted" ? "cancelled" : status;
    await this.#complete(followed, kind === "error" ? "failed" : "declined", {
      exitCode: undefined,
      outcome: undefined,
      decision: { kind, reason: structured.reason },
      ...(structured.command === undefined ? {} : { shownCommand: joinWords(structured.command) }),
      ...(structured.cwd === undefined ? {} : { cwd: structured.cwd }),
    });
  }

  async #complete(followed: Followed, status: ItemStatus, details: Ending): Promise<void> {
    followed.text.append(followed.decoder.decode());
    followed.isShown = false;
    this.#shown.delete(followed);
    await this.#options.emit({ type: "item_completed", item: this.#describe(followed, status, details) });
  }

  #describe(followed: Followed, status: ItemStatus, details: Ending) {
    const { started, itemId, text, bytes, sessionId, decided } = followed;
    const session = sessionId === undefined ? {} : { sessionId };
    const shown = { output: text.toString(), outputBytes: bytes };
    return { id: itemId, status, kind: "command" as const, ...started, ...shown, ...session, ...decided, ...details };
  }
}

/** One call of a followed command. */
export interface FollowedCall {
  onOutput(output: LiveOutput): Promise<void>;
  finish(result: ToolCallResult, decided?: Pick<CommandDetails, "decidedBy" | "rule">): Promise<void>;
}

type Ending = Pick<CommandDetails, "exitCode" | "outcome"> &
  Partial<Pick<CommandDetails, "decision" | "sandboxDenial" | "shownCommand" | "cwd">>;

const isExecResult = (structured: AnyStructured): structured is UnifiedExecResult =>
  "outcome" in structured && "range" in structured && "chunkId" in structured;

const codeOf = (outcome: CommandDetails["outcome"]): number | undefined =>
  outcome?.kind === "exited" ? outcome.code : undefined;
