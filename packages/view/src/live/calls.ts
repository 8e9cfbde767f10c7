import { type HostActivity, type UnifiedExecResult, unifiedExecResultSchema } from "@codex/executor-protocol";
import type { CallStarted, LiveOutput, OrchestratorEvent, ToolCallResult } from "@codex/orchestrator";
import { evictOldest } from "@codex/values";
import { safeParse } from "zod/mini";
import { MAX_HOST_TALLIES } from "../limits.js";
import type { CommandContent } from "../wire/entities.js";
import { HostTally } from "./host-tally.js";
import type { Items } from "./items.js";
import { describeEnd, type Sessions, type ShownSession } from "./sessions.js";
import { describeCommand, lastLines, shorten } from "./text.js";

/** A running call. */
interface Call {
  readonly started: CallStarted;
  readonly startedAt: number;
  /** The item of the command that it started, or whose session it reads. */
  item: string | undefined;
  session: ShownSession | undefined;
  unfollow: () => void;
}

/** Shows the calls of an orchestrator: a card for each command, over all calls that read it, and its session. */
export class Calls {
  readonly #sessions: Sessions;
  readonly #items: Items;
  readonly #now: () => number;
  readonly #calls = new Map<number, Call>();
  readonly #tallies = new Map<number, HostTally>();
  /** Items of commands whose sessions are running. */
  readonly #itemOf = new WeakMap<ShownSession, string>();

  constructor(sessions: Sessions, items: Items, now: () => number) {
    this.#sessions = sessions;
    this.#items = items;
    this.#now = now;
    sessions.onGrown = (session) => this.#showTail(this.#itemOf.get(session), session);
  }

  handle(event: Exclude<OrchestratorEvent, { type: "environments_changed" }>): void {
    switch (event.type) {
      case "call_started":
        return this.#start(event);
      case "call_decided":
        return this.#change(this.#calls.get(event.call)?.item, {
          ...(event.verdict === "refused" ? {} : { status: event.verdict === "asked" ? "waiting" : "running" }),
          decision: describeDecision(event.verdict, event.decision.by),
          ...(event.decision.rules.length === 0 ? {} : { rule: shorten(event.decision.rules.join("; "), 500) }),
        });
      case "output":
        return this.#output(event.call, event.output);
      case "hosts":
        return this.#countHosts(event.call, event.hosts, event.omitted);
      case "call_ended":
        return this.#end(event.call, event.result);
      case "session_exited": {
        const session = this.#sessions.find(event.environment, event.sessionId);
        if (session !== undefined) this.#finish(session, event.outcome);
        return;
      }
    }
  }

  #countHosts(call: number, hosts: readonly HostActivity[], omitted: number): void {
    const tally = this.#tallies.get(call) ?? new HostTally();
    this.#tallies.set(call, tally);
    evictOldest(this.#tallies, MAX_HOST_TALLIES);
    tally.add(hosts, omitted);
    this.#change(itemOf(call), { hosts: tally.hosts, otherHosts: tally.omitted });
  }

  #start(started: CallStarted): void {
    const known = this.#calls.get(started.call);
    if (known !== undefined) return; // it runs again outside the sandbox, or is about to be sent
    const { call, command, cwd, environment, session: sessionId } = started;
    const session = sessionId === undefined ? undefined : this.#sessions.find(environment, sessionId);
    const opened: Call = { started, startedAt: this.#now(), item: undefined, session, unfollow: () => {} };
    this.#calls.set(call, opened);
    if (session !== undefined) {
      this.#sessions.mark(session, started.tool);
      opened.item = this.#itemOf.get(session);
      if (started.tool === "write_stdin") opened.unfollow = session.feed.follow();
    }
    if (command === undefined) return;
    opened.item = itemOf(call);
    this.#items.set(opened.item, {
      ...{ type: "command", command: describeCommand(command), cwd, environment },
      ...{ tail: "", status: "running", outcome: "", omitted: [] },
    });
  }

  #output(number: number, output: LiveOutput): void {
    const call = this.#calls.get(number);
    if (call === undefined) return;
    const known = call.session;
    const { sessionId, offset, dropped } = output;
    if (known?.entity.sessionId === sessionId && offset > 0 && dropped === undefined) {
      return this.#sessions.append(known, offset, output.bytes);
    }
    const { started } = call;
    const { command, environment, cwd, tty = false } = started;
    const session = this.#sessions.receive(
      {
        ...{ environment, sessionId: output.sessionId, cwd, tty },
        command: command === undefined ? "" : describeCommand(command),
        startedAt: call.startedAt,
        canType: true,
      },
      output,
    );
    if (session !== call.session) {
      call.unfollow();
      call.unfollow = session.feed.follow();
      call.session = session;
      if (started.command !== undefined) this.#sessions.mark(session, started.tool);
      if (call.item !== undefined) this.#itemOf.set(session, call.item);
      this.#change(call.item, { session: session.entity.id });
    }
  }

  #end(number: number, result: ToolCallResult): void {
    const call = this.#calls.get(number);
    if (call === undefined) return;
    this.#calls.delete(number);
    if (result.isError) {
      call.unfollow();
      if (call.started.command !== undefined) this.#change(call.item, describeRefusal(result));
      return;
    }
    const parsed = safeParse(unifiedExecResultSchema, result.structured);
    if (parsed.success) this.#endCommand(call, parsed.data);
    call.unfollow();
  }

  #endCommand(call: Call, { outcome, processId, range, omitted }: UnifiedExecResult): void {
    const session = call.session ?? this.#seeSilent(call, processId);
    this.#change(call.item, { range, omitted });
    if (session === undefined) {
      if (outcome.kind !== "running") this.#change(call.item, toStatus(outcome));
      return;
    }
    if (outcome.kind === "running") return;
    session.feed.complete(range.to);
    this.#finish(session, outcome);
  }

  /** A session without output. */
  #seeSilent({ started, startedAt, item }: Call, sessionId: number | undefined): ShownSession | undefined {
    const { command, environment, cwd, tty = false } = started;
    if (sessionId === undefined || command === undefined) return undefined;
    const session = this.#sessions.see({
      ...{ environment, sessionId, cwd, tty, startedAt, canType: true },
      command: describeCommand(command),
    });
    if (item !== undefined) this.#itemOf.set(session, item);
    this.#change(item, { session: session.entity.id });
    return session;
  }

  #finish(session: ShownSession, outcome: UnifiedExecResult["outcome"]): void {
    this.#sessions.end(session, outcome);
    const item = this.#itemOf.get(session);
    if (outcome.kind !== "running") this.#change(item, toStatus(outcome));
    this.#showTail(item, session);
  }

  #showTail(item: string | undefined, { feed: { kept } }: ShownSession): void {
    const from = kept.nextKept(Math.max(0, kept.end - TAIL_BYTES));
    const parts = from === undefined ? undefined : kept.read(from, TAIL_BYTES);
    this.#change(item, { tail: parts === undefined ? "" : lastLines(Buffer.concat(parts)) });
  }

  #change(item: string | undefined, part: Partial<CommandContent>): void {
    const content = item === undefined ? undefined : this.#items.get(item);
    if (item !== undefined && content?.type === "command") this.#items.set(item, { ...content, ...part });
  }
}

/** The item of the command that a call has started. */
const itemOf = (call: number): string => `call ${call}`;

const TAIL_BYTES = 8 * 1024;

function toStatus(outcome: Exclude<UnifiedExecResult["outcome"], { kind: "running" }>): Partial<CommandContent> {
  const { outcome: text, isFailure } = describeEnd(outcome);
  return { status: isFailure ? "failed" : "completed", outcome: text };
}

function describeRefusal(result: Extract<ToolCallResult, { isError: true }>): Partial<CommandContent> {
  if (result.status === "lost") return { status: "failed", outcome: shorten(result.text, 500) };
  const isDeclined = ["forbidden", "denied", "cancelled"].includes(result.status);
  return { status: isDeclined ? "declined" : "failed", outcome: shorten(result.structured.reason, 500) };
}

function describeDecision(verdict: "allowed" | "asked" | "refused", by: string): string {
  if (by !== "policy" && by !== "rule") return DECIDERS[by] ?? by;
  if (verdict === "asked") return "needs approval";
  return `${verdict} by ${by === "rule" ? "a rule" : "the policy"}`;
}

const DECIDERS: Readonly<Record<string, string>> = {
  user: "decided by a person",
  client: "decided by a client",
  model: "decided by a model",
  session: "accepted for the session before",
  nobody: "nobody was there to ask",
  timeout: "nobody answered in time",
  failure: "asking failed",
  interrupt: "interrupted",
};
