import { type Clock, pause } from "@codex/clock";
import {
  asFunctionItems,
  type CallItem,
  type CallOutputItem,
  createMessage,
  decideRetry,
  type Item,
  isCall,
  type MessageItem,
  ModelError,
  type ModelEvent,
  type ModelPort,
  type ModelRequest,
  type RetryLimits,
  textOf,
  type Usage,
} from "@codex/model";
import { defined, messageOf } from "@codex/values";
import type { AgentEvent, TurnEnd } from "../events/agent-event.js";
import type { PlanDetails } from "../events/thread-item.js";
import { addUsage, NO_USAGE } from "../events/usage.js";
import { compactHistory } from "../history/compaction.js";
import { completeCalls, isRecorded } from "../history/sendable.js";
import { lostOutput, TURN_ABORTED } from "../history/texts.js";
import { type ThreadRecorder, ThreadWriteError } from "../history/thread-entry.js";
import type { TurnLimits } from "../limits.js";
import { CallIds } from "./call-ids.js";
import { CallOrder } from "./call-order.js";
import type { PreparedCall, TurnHooks } from "./call-runner.js";
import type { CommandTracker } from "./command-tracker.js";
import { ResponseReader } from "./response-reader.js";
import { describeRetry, summarize } from "./summarize.js";
import type { ThreadHooks } from "./thread-hooks.js";
import { inputOf, type ToolTable } from "./tool-table.js";

/** State of a thread across turns. */
export interface ThreadState {
  readonly threadId: string;
  items: Item[];
  usage: Usage;
  /** Total tokens of the last response; 0 when unknown. */
  lastTokens: number;
  /** The endpoint supports functions only. */
  functionsOnly: boolean;
}

/** Options of {@link Turn}. */
export interface TurnOptions {
  readonly turnId: string;
  readonly state: ThreadState;
  /** Returns the messages that start the turn, given the history; undefined: only compact the history. */
  readonly open: ((history: readonly Item[]) => readonly Item[]) | undefined;
  readonly model: ModelPort;
  /** The part of each request that is constant within the turn. */
  readonly request: Omit<ModelRequest, "input" | "tools" | "threadId" | "turnId" | "turnState" | "promptCacheKey">;
  /** Returns the current tools, which change as executors connect and disconnect. */
  readonly tools: (customTools: boolean) => ToolTable;
  readonly customTools: boolean;
  readonly prepare: (call: CallItem, table: ToolTable, hooks: TurnHooks) => PreparedCall;
  readonly commands: CommandTracker;
  readonly recorder: ThreadRecorder;
  readonly emit: (event: AgentEvent) => Promise<void>;
  readonly nextItemId: () => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryLimits;
  readonly limits: TurnLimits;
  readonly hooks: ThreadHooks | undefined;
  readonly signal: AbortSignal;
  /** Maximum number of responses; undefined: no limit. */
  readonly maxResponses: number | undefined;
  /** Milliseconds after which the turn fails; undefined: no limit. */
  readonly timeoutMs: number | undefined;
  readonly compaction: {
    readonly tokens: number;
    readonly prompt: string;
    /** Current initial messages of the history. */
    readonly first: readonly MessageItem[];
    readonly openings: readonly string[];
  };
}

/** Ends a turn for a reason other than a model error. */
class TurnStop extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "TurnStop";
    this.code = code;
  }
}

/** Sends requests and runs the model's calls until it makes no more. Failures of model and tools do not reject. */
export class Turn {
  readonly #options: TurnOptions;
  readonly #state: ThreadState;
  readonly #stop = new AbortController();
  #turnUsage = NO_USAGE;
  #turnState: string | undefined;
  #responses = 0;
  #finalMessage = "";
  /** Calls of this response, over all attempts. */
  readonly #made = new Set<string>();
  /** Of all calls in the history; read when the first call is made. */
  #callIds: CallIds | undefined;
  #plan: { id: string; details: PlanDetails } | undefined;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  /** The last message of the model. */
  get finalMessage(): string {
    return this.#finalMessage;
  }

  async run(): Promise<TurnEnd> {
    const { clock, signal, timeoutMs, commands, recorder, turnId } = this.#options;
    const began = clock.now();
    const onAbort = () => this.#stop.abort(new TurnStop("interrupted", describeReason(signal.reason)));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    const onTimeout = () =>
      this.#stop.abort(new TurnStop("timeout", `the turn took longer than ${(timeoutMs ?? 0) / 1000} s`));
    const cancelTimer = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, onTimeout);
    let failure: { code: string; message: string } | undefined;
    try {
      await this.#loop();
    } catch (error) {
      failure = this.#describeFailure(error);
    } finally {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
    }
    if (failure?.code === "interrupted") await this.#options.hooks?.interrupted();
    await commands.settle();
    await this.#settlePlan();
    try {
      if (failure !== undefined && this.#stop.signal.aborted) await this.#append(createMessage("user", TURN_ABORTED));
      const outcome = failure === undefined ? "completed" : failure.code === "interrupted" ? "interrupted" : "failed";
      const wallMs = clock.now() - began;
      await recorder.append({ type: "turn_ended", turnId, outcome, error: failure?.message, wallMs });
    } catch (error) {
      failure ??= this.#describeFailure(error);
    }
    const totals = { usage: this.#state.usage, turnUsage: this.#turnUsage };
    return failure === undefined
      ? { type: "turn_completed", ...totals }
      : { type: "turn_failed", error: failure, ...totals };
  }

  #describeFailure(error: unknown): { code: string; message: string } {
    const reason: unknown = this.#stop.signal.aborted ? this.#stop.signal.reason : error;
    if (error instanceof TurnStop) return { code: error.code, message: error.message };
    if (reason instanceof TurnStop || reason instanceof ModelError)
      return { code: reason.code, message: reason.message };
    if (reason instanceof ThreadWriteError) return { code: "not_saved", message: reason.message };
    return { code: "internal", message: messageOf(reason) };
  }

  async #loop(): Promise<void> {
    const { open } = this.#options;
    if (open === undefined) return this.#compact("the user asked for it", "manual");
    try {
      await this.#compactIfDue();
    } finally {
      for (const item of open(this.#state.items)) await this.#append(item);
    }
    for (;;) {
      this.#stop.signal.throwIfAborted();
      await this.#compactIfDue();
      const { maxResponses } = this.#options;
      if (maxResponses !== undefined && this.#responses >= maxResponses) {
        throw new TurnStop(
          "max_turns",
          `the turn was ended after ${maxResponses} response${maxResponses === 1 ? "" : "s"} of the model (--max-turns)`,
        );
      }
      this.#responses += 1;
      await this.#appendContext();
      if ((await this.#respond()) && (await this.#isOver())) return;
    }
  }

  /** Whether the turn ends when the model makes no more calls: hooks may let it go on. */
  async #isOver(): Promise<boolean> {
    const { hooks } = this.#options;
    if (hooks === undefined) return true;
    this.#stop.signal.throwIfAborted();
    const prompts = await hooks.stop(this.#finalMessage, this.#stop.signal);
    this.#stop.signal.throwIfAborted();
    for (const prompt of prompts) await this.#append(prompt);
    return prompts.length === 0 && (await this.#appendContext()) === 0;
  }

  /** Adds what hooks in the background have said. Returns how many messages that is. */
  async #appendContext(): Promise<number> {
    const told = this.#options.hooks?.takeContext() ?? [];
    for (const message of told) await this.#append(message);
    return told.length;
  }

  /** Requests one response, with retries. Returns true when the turn is complete. */
  async #respond(): Promise<boolean> {
    const { emit, clock, random, retry } = this.#options;
    const counts = { stream: 0, refused: 0, never: 0 };
    for (;;) {
      const reader = new ResponseReader(emit, this.#options.nextItemId);
      try {
        return await this.#stream(reader);
      } catch (error) {
        this.#stop.signal.throwIfAborted();
        if (!(error instanceof ModelError)) throw error;
        const discarded = reader.discard();
        if (error.code === "tool_type" && !this.#state.functionsOnly) {
          this.#state.functionsOnly = true;
          await this.#options.recorder.append({ type: "functions_only" });
          const message = `Asking again with functions only (${error.message})`;
          await emit({ type: "retry", message, discarded });
          continue;
        }
        counts[error.retry] += 1;
        const again = decideRetry(error, counts[error.retry], retry, random);
        if (again === undefined) throw error;
        const count = error.retry === "refused" ? `${counts.refused}` : `${counts.stream}/${retry.streamRetries}`;
        await emit({ type: "retry", message: describeRetry(count, again.delayMs, error.message), discarded });
        await pause(clock, again.delayMs, this.#stop.signal);
      }
    }
  }

  /** Reads one stream. Its calls are completed and recorded even if it breaks. */
  async #stream(reader: ResponseReader): Promise<boolean> {
    const { model, emit, tools, customTools } = this.#options;
    const table = tools(customTools && !this.#state.functionsOnly);
    const order = new CallOrder();
    const calls: Promise<CallOutputItem>[] = [];
    let completed: Extract<ModelEvent, { type: "completed" }> | undefined;
    await emit({ type: "request_started", number: this.#responses });
    try {
      const request = this.#createRequest(table);
      for await (const event of model.stream(request, { signal: this.#stop.signal })) {
        if (event.type === "completed") completed = event;
        else if (event.type === "notice") await this.#notice(event, reader);
        else if (event.type !== "item_done") await reader.delta(event);
        else await this.#take(event.item, reader, table, order, calls);
      }
    } finally {
      await this.#recordOutputs(calls);
    }
    if (completed === undefined) throw new ModelError("stream_cut", "the stream ended early", { retry: "stream" });
    this.#turnState = completed.turnState ?? this.#turnState;
    this.#made.clear();
    await this.#count(completed.usage);
    this.#stop.signal.throwIfAborted();
    return calls.length === 0 && completed.endTurn !== false;
  }

  #createRequest(table: ToolTable): ModelRequest {
    const { threadId, items, functionsOnly } = this.#state;
    const sendable = completeCalls(items, () => lostOutput(undefined));
    return {
      ...this.#options.request,
      input: functionsOnly ? asFunctionItems(sendable) : sendable,
      tools: functionsOnly ? table.specs.filter(({ type }) => type === "function") : table.specs,
      threadId,
      turnId: this.#options.turnId,
      promptCacheKey: threadId,
      ...defined({ turnState: this.#turnState }),
    };
  }

  /** Handles a completed item: it is recorded first. */
  async #take(
    item: Item,
    reader: ResponseReader,
    table: ToolTable,
    order: CallOrder,
    calls: Promise<CallOutputItem>[],
  ): Promise<void> {
    if (!isRecorded(item)) return;
    const call = isCall(item) ? this.#identify(item as CallItem) : undefined; // a ModelPort yields well-formed calls only
    if (call === "repeated") {
      await this.#warn(`The model repeated the call ${JSON.stringify(item.call_id)}; it was not made again.`);
      return;
    }
    await this.#append(call ?? item);
    if (item.type === "message") this.#finalMessage = textOf(item);
    await reader.item(item);
    if (call === undefined) return;
    const prepared = this.#options.prepare(call, table, {
      // A separate signal, as the listeners of all waiting calls would add up on that of the turn.
      signal: AbortSignal.any([this.#stop.signal]),
      onCancelled: () => this.#stop.abort(new TurnStop("interrupted", "the user ended the turn")),
      showPlan: (details) => this.#showPlan(details),
      addContext: (text) => this.#append(createMessage("developer", text)),
    });
    const result = order.start(prepared.exclusive, prepared.run);
    result.catch(() => {}); // awaited by #recordOutputs
    calls.push(result);
  }

  /** Records the output of every call. All calls have ended before the first failure is thrown. */
  async #recordOutputs(calls: readonly Promise<CallOutputItem>[]): Promise<void> {
    const failures: unknown[] = [];
    for (const call of calls) {
      await call.then((output) => this.#append(output)).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Detects a call repeated within a response or by its retry, which must not run again. Some endpoints reuse call ids across
   * responses: such a call gets a unique id, since outputs refer to it.
   */
  #identify(call: CallItem): CallItem | "repeated" {
    const { call_id: id, name } = call;
    const key = JSON.stringify([id, name, inputOf(call)]);
    if (this.#made.has(key)) return "repeated";
    this.#made.add(key);
    this.#callIds ??= new CallIds(this.#state.items.flatMap((item) => (isCall(item) ? [String(item.call_id)] : [])));
    const unique = this.#callIds.take(id);
    return unique === id ? call : { ...call, call_id: unique };
  }

  async #notice({ message, retry }: Extract<ModelEvent, { type: "notice" }>, reader: ResponseReader): Promise<void> {
    if (retry === true) await this.#options.emit({ type: "retry", message, discarded: reader.discard() });
    else await this.#warn(message);
  }

  async #warn(message: string): Promise<void> {
    const item = { id: this.#options.nextItemId(), status: "completed" as const, kind: "warning" as const, message };
    await this.#options.emit({ type: "item_completed", item });
  }

  async #append(item: Item): Promise<void> {
    this.#state.items.push(item);
    await this.#options.recorder.append({ type: "item", item });
  }

  async #count(usage: Usage | undefined): Promise<void> {
    const { emit, recorder, turnId } = this.#options;
    if (usage !== undefined) {
      this.#turnUsage = addUsage(this.#turnUsage, usage);
      this.#state.usage = addUsage(this.#state.usage, usage);
      this.#state.lastTokens = usage.totalTokens;
      await recorder.append({ type: "usage", turnId, usage, total: this.#state.usage });
    }
    await emit({ type: "response_completed", number: this.#responses, usage });
  }

  /** Compacts the history when it reaches the token limit. */
  async #compactIfDue(): Promise<void> {
    const { tokens } = this.#options.compaction;
    if (this.#state.lastTokens < tokens) return;
    await this.#compact(`its ${this.#state.lastTokens} tokens reached the limit of ${tokens}`, "auto");
  }

  async #compact(reason: string, trigger: "manual" | "auto"): Promise<void> {
    this.#stop.signal.throwIfAborted();
    await this.#askAboutCompaction("before", trigger);
    const { emit, recorder, nextItemId, compaction, limits } = this.#options;
    const tokensBefore = this.#state.lastTokens;
    const item = { id: nextItemId(), kind: "compaction" as const, tokensBefore };
    await emit({ type: "item_started", item: { ...item, status: "in_progress", summary: "" } });
    const items = this.#state.items;
    const ask = (input: readonly Item[]) => this.#askForSummary(input);
    const signal = this.#stop.signal;
    const summary = await summarize({ ...this.#options, ...compaction, items, ask, signal }).catch(
      async (error: unknown) => {
        await emit({ type: "item_completed", item: { ...item, status: "failed", summary: "" } });
        throw error;
      },
    );
    const { first, openings } = compaction;
    const compacted = compactHistory({
      first,
      openings,
      history: items,
      summary,
      userBytes: limits.compactedUserBytes,
    });
    this.#state.items = compacted.items;
    this.#state.lastTokens = 0;
    await recorder.append({ type: "compacted", items: compacted.items, tokensBefore, reason });
    await emit({ type: "item_completed", item: { ...item, status: "completed", summary } });
    await this.#askAboutCompaction("after", trigger);
  }

  /** A hook may end the turn. */
  async #askAboutCompaction(when: "before" | "after", trigger: "manual" | "auto"): Promise<void> {
    const reason = await this.#options.hooks?.compaction(when, trigger, this.#stop.signal);
    if (reason === undefined) return;
    throw new TurnStop("hook", `a hook ended the turn ${when} its history was compacted: ${reason}`);
  }

  async #askForSummary(input: readonly Item[]): Promise<string> {
    const complete = completeCalls(input, () => lostOutput(undefined));
    const { text: _form, ...rest } = this.#createRequest({ specs: [], names: [], find: notOffered });
    const functions = this.#state.functionsOnly ? asFunctionItems(complete) : complete;
    const request: ModelRequest = { ...rest, input: functions, tools: [], parallelToolCalls: false };
    let summary = "";
    for await (const event of this.#options.model.stream(request, { signal: this.#stop.signal })) {
      if (event.type === "item_done" && event.item.type === "message") summary += textOf(event.item);
      if (event.type === "completed") await this.#count(event.usage);
    }
    return summary;
  }

  /** Shows or updates the plan, which is one item per turn. */
  async #showPlan(details: PlanDetails): Promise<void> {
    const { emit, nextItemId } = this.#options;
    const isFirst = this.#plan === undefined;
    const id = this.#plan?.id ?? nextItemId();
    this.#plan = { id, details };
    await emit({ type: isFirst ? "item_started" : "item_updated", item: { id, status: "in_progress", ...details } });
  }

  async #settlePlan(): Promise<void> {
    if (this.#plan === undefined) return;
    const { id, details } = this.#plan;
    await this.#options.emit({ type: "item_completed", item: { id, status: "completed", ...details } });
  }
}

const notOffered = () => ({ kind: "unknown" as const, name: "" });

const describeReason = (reason: unknown): string =>
  reason instanceof Error && reason.name !== "AbortError" ? reason.message : "the turn was interrupted";
