import { type Clock, systemClock } from "@codex/clock";
import type { HookSubject, Hooks } from "@codex/hooks";
import {
  type ContentPart,
  chooseReasoning,
  createMessage,
  DEFAULT_RETRY_LIMITS,
  describeModel,
  type HostedSpec,
  type Item,
  type MessageItem,
  type ModelPort,
  type OutputFormat,
  type ReasoningOptions,
  type RetryLimits,
  type TextOptions,
  textOf,
  type Usage,
} from "@codex/model";
import type { EnvironmentSelection, Orchestrator } from "@codex/orchestrator";
import { cutEnd, defined, messageOf } from "@codex/values";
import type { AgentEvent, TurnEnd } from "./events/agent-event.js";
import { NO_USAGE } from "./events/usage.js";
import { BASE_INSTRUCTIONS } from "./history/base-instructions.js";
import { COMPACT_PROMPT, compactionLimit } from "./history/compaction.js";
import { type ContextSection, changedMessages, firstMessages } from "./history/context-sections.js";
import type { ThreadRecorder } from "./history/thread-entry.js";
import { createUuid7 } from "./ids.js";
import { DEFAULT_TURN_LIMITS, MAX_SAVED_PROMPT, type TurnLimits } from "./limits.js";
import type { RunOptions, SavedThread, Thread, ThreadOptions, TurnResult, TurnRun } from "./thread.js";
import type { AgentTool } from "./tools/agent-tool.js";
import { prepareCall } from "./turn/call-runner.js";
import { CommandTracker } from "./turn/command-tracker.js";
import { EventQueue } from "./turn/event-queue.js";
import { recoverCalls } from "./turn/recover-calls.js";
import { ThreadHooks } from "./turn/thread-hooks.js";
import { ThreadPlace } from "./turn/thread-place.js";
import { createToolTable } from "./turn/tool-table.js";
import { type ThreadState, Turn } from "./turn/turn.js";

/** Options of {@link createAgent}; `orchestrator`, `model` and `modelName` are required. */
export interface AgentOptions {
  /** Stays open; the caller closes it. */
  readonly orchestrator: Pick<Orchestrator, "createConversation" | "executors">;
  readonly model: ModelPort;
  /** Model id that the endpoint expects. */
  readonly modelName: string;
  /** In addition to the orchestrator's tools. */
  readonly tools?: readonly AgentTool[];
  readonly hostedTools?: readonly HostedSpec[];
  /** Base instructions; default {@link BASE_INSTRUCTIONS}. */
  readonly instructions?: string;
  /** Called before each turn for the context of the model; changed sections are sent in a new message. */
  readonly readContext?: (turn: {
    prompt: string;
    signal: AbortSignal;
    /** Environments of the turn, the default first; undefined: all. */
    environments: readonly EnvironmentSelection[] | undefined;
  }) => Promise<TurnContext>;
  /** Absolute working directory of calls, on the executor's host. */
  readonly cwd?: string;
  readonly workspaceRoots?: readonly string[];
  /**
   * Environments that calls may use until a turn selects others, the default first; `cwd` and `workspaceRoots` apply to the default.
   * `[]`: none. Default: all.
   */
  readonly environments?: readonly EnvironmentSelection[];
  /** Default: depends on the model. */
  readonly reasoning?: ReasoningOptions;
  readonly text?: TextOptions;
  /** Sent unchanged, except that `fast` is sent as `priority`. */
  readonly serviceTier?: string;
  /** The model supports free-form (`custom`) tools; default: depends on the model. */
  readonly customTools?: boolean;
  readonly parallelToolCalls?: boolean;
  /** Commands run in login shells, as the orchestrator is configured; for display only. Default true. */
  readonly login?: boolean;
  /** Version of the program, `CODEX_VERSION` of its commands. */
  readonly version?: string;
  /** Name of the permission profile of its commands, their `CODEX_PERMISSION_PROFILE`. */
  readonly permissionProfile?: string;
  /** Tokens of history and response together; default: depends on the model. */
  readonly contextWindow?: number;
  /** Total tokens at which the history is compacted; default 90 % of the window. */
  readonly compactTokenLimit?: number;
  readonly compactPrompt?: string;
  readonly retry?: RetryLimits;
  readonly limits?: Partial<TurnLimits>;
  readonly clock?: Clock;
  /** Returns a number in [0, 1), for retry jitter. */
  readonly random?: () => number;
  /** Creates thread and turn ids; default UUIDv7. */
  readonly newId?: () => string;
  /** Told about threads and turns, and asked about the agent's own tools; not closed. Those of an orchestrator's tools are its own. Default none. */
  readonly hooks?: Hooks;
  /** `bypassPermissions` where nobody is ever asked; for hooks. Default `default`. */
  readonly permissionMode?: HookSubject["permissionMode"];
}

/** Context of one turn. */
export interface TurnContext {
  readonly sections: readonly ContextSection[];
  /** Messages inserted before this prompt, such as a skill that it names. */
  readonly messages?: readonly MessageItem[];
  /** Shown to the user. */
  readonly warnings?: readonly string[];
}

/** Runs threads with one model and one orchestrator. */
export interface Agent {
  /** Starts a new thread. */
  startThread(options?: ThreadOptions): Thread;
  /** Resumes a saved thread. A call without an output gets one that describes what is known about it. */
  resumeThread(saved: SavedThread, options?: Omit<ThreadOptions, "id">): Promise<Thread>;
}

/**
 * Creates an agent: a model that works through an orchestrator.
 *
 * ```ts
 * const agent = createAgent({ orchestrator, model, modelName: "gpt-5.5" });
 * const { finalMessage } = await agent.startThread().run("Make the tests pass.").result;
 * ```
 */
export function createAgent(options: AgentOptions): Agent {
  const newId = options.newId ?? (() => createUuid7(Date.now(), crypto.getRandomValues(new Uint8Array(10))));
  const settings: Settings = { ...options, newId };
  return {
    startThread: ({ id = newId(), recorder = NO_RECORDER } = {}) =>
      new AgentThread(settings, recorder, newState({ id, items: [] }), false),
    async resumeThread(saved, { recorder = NO_RECORDER, begun = false } = {}) {
      const { tools: own = [] } = settings;
      const place = new ThreadPlace(settings);
      const table = createToolTable({ orchestrator: place.listTools(), own, hosted: [], customTools: true });
      const { startedCalls, checkpoints } = saved;
      const items = await recoverCalls(saved.items, { table, own, startedCalls, checkpoints, ...place.default });
      const known = new Set(saved.items);
      for (const item of items) if (!known.has(item)) await recorder.append({ type: "item", item });
      return new AgentThread(settings, recorder, newState({ ...saved, items }), true, begun);
    },
  };
}

interface Settings extends AgentOptions {
  readonly newId: () => string;
}

const NO_RECORDER: ThreadRecorder = { append: () => Promise.resolve() };

const newState = ({
  id,
  items,
  usage = NO_USAGE,
  lastTokens = 0,
  functionsOnly = false,
}: SavedThread): ThreadState => ({
  threadId: id,
  items: [...items],
  usage,
  lastTokens,
  functionsOnly,
});

class AgentThread implements Thread {
  readonly #settings: Settings;
  readonly #recorder: ThreadRecorder;
  readonly #state: ThreadState;
  readonly #commands: CommandTracker;
  readonly #limits: TurnLimits;
  readonly #resumed: boolean;
  /** Hooks know that the session has begun. */
  #hasBegun: boolean;
  readonly #place: ThreadPlace;
  #isNew = true;
  /** Of hooks, for the next turn. */
  readonly #context: MessageItem[] = [];
  #itemCount = 0;
  #emit: (event: AgentEvent) => Promise<void> = () => Promise.resolve();
  #isRunning = false;

  constructor(settings: Settings, recorder: ThreadRecorder, state: ThreadState, resumed: boolean, begun = false) {
    this.#settings = settings;
    this.#recorder = recorder;
    this.#state = state;
    this.#resumed = resumed;
    this.#hasBegun = begun;
    this.#place = new ThreadPlace(settings);
    this.#limits = { ...DEFAULT_TURN_LIMITS, ...settings.limits };
    const { shownOutputChars, trackedSessions } = this.#limits;
    const emit = (event: AgentEvent) => this.#emit(event);
    this.#commands = new CommandTracker({
      emit,
      nextItemId: this.#nextItemId,
      shownOutputChars,
      trackedSessions,
      findEnd: (sessionId) => this.#place.findEnd(sessionId),
    });
  }

  get id(): string {
    return this.#state.threadId;
  }

  get items(): readonly Item[] {
    return this.#state.items;
  }

  get usage(): Usage {
    return this.#state.usage;
  }

  get lastTokens(): number {
    return this.#state.lastTokens;
  }

  run(prompt: string | readonly ContentPart[], options: RunOptions = {}): TurnRun {
    return this.#run(typeof prompt === "string" ? createMessage("user", prompt) : promptOf(prompt), options);
  }

  compact(options: RunOptions = {}): TurnRun {
    return this.#run(undefined, options);
  }

  #run(message: MessageItem | undefined, options: RunOptions): TurnRun {
    if (this.#isRunning) throw new Error(`a turn of thread ${this.id} is still running`);
    this.#place.startTurn(options.environments);
    this.#isRunning = true;
    const queue = new EventQueue(this.#limits.queuedEvents);
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    this.#emit = (event) => queue.push(event);
    const result = this.#runTurn(message, options, signal).finally(() => {
      this.#isRunning = false;
      queue.end();
    });
    let isIterated = false;
    return {
      get result() {
        if (!isIterated) queue.stopReading();
        return result;
      },
      async *[Symbol.asyncIterator]() {
        isIterated = true;
        try {
          for (let event = await queue.next(); event !== undefined; event = await queue.next()) yield event;
        } finally {
          queue.stopReading();
          stop.abort();
          await result;
        }
      },
    };
  }

  #nextItemId = (): string => {
    this.#itemCount += 1;
    return `item_${this.#itemCount - 1}`;
  };

  async #runTurn(message: MessageItem | undefined, options: RunOptions, signal: AbortSignal): Promise<TurnResult> {
    try {
      const turn = await this.#startTurn(message, options, signal);
      if ("stopped" in turn) return await this.#endStopped(turn.stopped);
      const end = await turn.run();
      await this.#emit(end);
      return { end, finalMessage: turn.finalMessage };
    } catch (thrown) {
      const end = this.#describeFailure(thrown, signal);
      await this.#emit(end);
      return { end, finalMessage: "" };
    }
  }

  /** Returns the reason if hooks do not let it start. */
  async #startTurn(
    message: MessageItem | undefined,
    options: RunOptions,
    signal: AbortSignal,
  ): Promise<Turn | { stopped: string }> {
    const turnId = this.#settings.newId();
    if (this.#isNew) await this.#emit({ type: "thread_started", threadId: this.id, resumed: this.#resumed });
    this.#isNew = false;
    await this.#emit({ type: "turn_started", turnId });
    const hooks = this.#hooksOf(turnId);
    const begins = hooks !== undefined && !this.#hasBegun;
    this.#hasBegun = true;
    const session = begins ? await hooks.sessionStart(this.#resumed ? "resume" : "startup", signal) : undefined;
    this.#addContext(session?.context);
    if (session?.stop !== undefined) return { stopped: session.stop };
    const prompt = message && (await hooks?.promptSubmit(textOf(message), signal));
    if (prompt?.stop !== undefined) {
      this.#addContext(prompt.context);
      return { stopped: prompt.stop };
    }
    const context = await this.#readContext(message === undefined ? "" : textOf(message), signal);
    const first = firstMessages(this.#settings.instructions ?? BASE_INSTRUCTIONS, context.sections);
    await this.#recordStart(turnId, message);
    for (const warning of context.warnings ?? []) await this.#warn(warning);
    const open = (history: readonly Item[]) => {
      const before = history.length === 0 ? first : changedMessages(history, context.sections);
      const told = this.#context.splice(0);
      const own = message === undefined ? [] : [message, ...toMessages(prompt?.context)];
      return [...before, ...told, ...(context.messages ?? []), ...own];
    };
    return this.#createTurn({
      turnId,
      hooks,
      first,
      open: message && open,
      sections: context.sections,
      options,
      signal,
    });
  }

  /** Ends a turn that hooks did not let start. */
  async #endStopped(reason: string): Promise<TurnResult> {
    await this.#warn(`a hook ended the turn before it began${reason === "" ? "" : `: ${reason}`}`);
    const end: TurnEnd = { type: "turn_completed", usage: this.#state.usage, turnUsage: NO_USAGE };
    await this.#emit(end);
    return { end, finalMessage: "" };
  }

  #hooksOf(turnId: string): ThreadHooks | undefined {
    const { hooks } = this.#settings;
    return hooks && new ThreadHooks(hooks, { ...this.#subject, turnId });
  }

  /** What hooks are told about the thread. */
  get #subject() {
    const { modelName: model, permissionMode = "default" } = this.#settings;
    const { environment, cwd } = this.#place.default;
    const directory = cwd ?? this.#place.hostOf(environment)?.cwd ?? "/";
    return { sessionId: this.id, transcriptPath: this.#recorder.path ?? null, cwd: directory, model, permissionMode };
  }

  /** The model reads it in the next turn that begins. */
  #addContext(texts: readonly string[] = []): void {
    this.#context.push(...toMessages(texts));
  }

  async end(reason = "other"): Promise<void> {
    if (this.#hasBegun) await this.#settings.hooks?.sessionEnd({ ...this.#subject, reason });
    this.#hasBegun = false;
  }

  /** Describes a failure of an injected collaborator, such as the thread recorder. */
  #describeFailure(thrown: unknown, signal: AbortSignal): TurnEnd {
    const message = messageOf(thrown);
    const error = { code: signal.aborted ? "interrupted" : "internal", message };
    return { type: "turn_failed", error, usage: this.#state.usage, turnUsage: NO_USAGE };
  }

  async #readContext(prompt: string, signal: AbortSignal): Promise<TurnContext> {
    const { readContext } = this.#settings;
    if (readContext === undefined) return { sections: [] };
    return readContext({ prompt, signal, environments: this.#place.environments });
  }

  async #recordStart(turnId: string, message: MessageItem | undefined): Promise<void> {
    await this.#recorder.append({
      type: "turn_started",
      turnId,
      model: this.#settings.modelName,
      ...this.#place.default,
    });
    if (message === undefined) return;
    const text = cutEnd(textOf(message), MAX_SAVED_PROMPT);
    await this.#recorder.append({ type: "prompt", text });
  }

  async #warn(message: string): Promise<void> {
    const item = { id: this.#nextItemId(), status: "completed" as const, kind: "warning" as const, message };
    await this.#emit({ type: "item_completed", item });
  }

  #createTurn({ turnId, hooks, first, open, sections, options, signal }: OpenedTurn): Turn {
    const settings = this.#settings;
    const { model, hostedTools: hosted = [] } = settings;
    const place = this.#place;
    const own = (settings.tools ?? []).filter(({ needsEnvironment = false }) => !needsEnvironment || !place.isDisabled);
    const { clock = systemClock, random = Math.random, retry = DEFAULT_RETRY_LIMITS } = settings;
    const traits = describeModel(settings.modelName);
    const emit = (event: AgentEvent) => this.#emit(event);
    const shared = { place, own, commands: this.#commands, recorder: this.#recorder, clock, emit };
    const imageDetail: "original" | "high" = traits.originalImages ? "original" : "high";
    const { login = true } = settings;
    return new Turn({
      turnId,
      open,
      state: this.#state,
      model,
      request: createRequest(settings, options.outputSchema),
      tools: (customTools) => createToolTable({ orchestrator: place.listTools(), own, hosted, customTools }),
      customTools: settings.customTools ?? traits.customTools,
      hooks,
      prepare: (call, table, effects) =>
        prepareCall(call, {
          ...shared,
          ...effects,
          hooks,
          table,
          imageDetail,
          login,
          nextItemId: this.#nextItemId,
          variables: {
            CODEX_THREAD_ID: this.id,
            CODEX_SESSION_ID: this.id,
            ...defined({ CODEX_VERSION: settings.version, CODEX_PERMISSION_PROFILE: settings.permissionProfile }),
          },
        }),
      commands: this.#commands,
      recorder: this.#recorder,
      emit,
      nextItemId: this.#nextItemId,
      clock,
      random,
      retry,
      limits: this.#limits,
      signal,
      maxResponses: options.maxResponses,
      timeoutMs: options.timeoutMs,
      compaction: {
        tokens: compactionLimit(settings.contextWindow ?? traits.contextWindow, settings.compactTokenLimit),
        prompt: settings.compactPrompt ?? COMPACT_PROMPT,
        first,
        openings: sections.map(({ opening }) => opening),
      },
    });
  }
}

/** Inputs of a turn, once its context is read. */
interface OpenedTurn {
  readonly turnId: string;
  readonly hooks: ThreadHooks | undefined;
  readonly first: readonly MessageItem[];
  readonly open: ((history: readonly Item[]) => readonly Item[]) | undefined;
  readonly sections: readonly ContextSection[];
  readonly options: RunOptions;
  readonly signal: AbortSignal;
}

const toMessages = (texts: readonly string[] = []): MessageItem[] =>
  texts.map((text) => createMessage("developer", text));

const promptOf = (content: readonly ContentPart[]): MessageItem => ({ type: "message", role: "user", content });

/** The part of a request that is constant within a turn. Pure. */
function createRequest(settings: AgentOptions, outputSchema: unknown) {
  const { modelName, parallelToolCalls = true, serviceTier } = settings;
  const traits = describeModel(settings.modelName);
  const verbosity = settings.text?.verbosity ?? traits.verbosity;
  const format: OutputFormat | undefined =
    outputSchema === undefined
      ? settings.text?.format
      : { type: "json_schema", strict: true, name: "codex_output_schema", schema: outputSchema };
  const text = defined({ verbosity, format });
  return {
    model: modelName,
    parallelToolCalls,
    reasoning: chooseReasoning(settings.reasoning, traits),
    ...(Object.keys(text).length === 0 ? {} : { text }),
    ...(serviceTier === undefined ? {} : { serviceTier: serviceTier === "fast" ? "priority" : serviceTier }),
  };
}
