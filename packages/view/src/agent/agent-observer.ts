import type { Agent, AgentEvent, Item, Thread, TurnRun } from "@codex/agent";

/** The part of a view that an observer uses. */
interface Shown {
  show(event: AgentEvent): void;
  showPrompt(text: string): void;
  setThread(facts: { threadId: string; model: string }): void;
}

/** Shows the threads of an agent in views. */
export interface AgentObserver {
  /** Wraps an agent so that the turns of its threads are shown. */
  observe(agent: Agent, model: string): Agent;
  /** Starts to show the current thread: its messages so far, and what follows. */
  showIn(view: Shown): void;
  /** Ends the running turn; false if there is none. */
  stop(): boolean;
}

/** Messages of a thread that are kept for a view attached later. */
const SHOWN_MESSAGES = 200;

/** Creates an observer. Without a view it does nothing but forward. */
export function createAgentObserver(): AgentObserver {
  const views = new Set<Shown>();
  let current: { thread: Thread; model: string } | undefined;
  let turn: AbortController | undefined;
  const begin = (thread: Thread, model: string): Thread => {
    current = { thread, model };
    for (const view of views) introduce(view, current);
    return watchThread(thread, {
      prompted: (text) => {
        for (const view of views) view.showPrompt(text);
      },
      happened: (event) => {
        for (const view of views) view.show(event);
      },
      began: (given) => {
        turn = given;
      },
    });
  };
  return {
    observe: (agent, model) => ({
      startThread: (options) => begin(agent.startThread(options), model),
      resumeThread: async (saved, options) => begin(await agent.resumeThread(saved, options), model),
    }),
    showIn(view) {
      views.add(view);
      if (current !== undefined) introduce(view, current);
    },
    stop() {
      if (turn === undefined || turn.signal.aborted) return false;
      turn.abort(new Error("the turn was ended in the view"));
      return true;
    },
  };
}

function introduce(view: Shown, { thread, model }: { thread: Thread; model: string }): void {
  view.setThread({ threadId: thread.id, model });
  for (const [at, message] of messagesOf(thread.items).slice(-SHOWN_MESSAGES).entries()) {
    if (message.role === "user") view.showPrompt(message.text);
    else {
      const item = { kind: "message", id: `earlier_${at}`, status: "completed", text: message.text } as const;
      view.show({ type: "item_completed", item });
    }
  }
}

/** The messages of user and model. */
function messagesOf(items: readonly Item[]): { role: "user" | "assistant"; text: string }[] {
  return items.flatMap((item) => {
    if (item.type !== "message" || (item.role !== "user" && item.role !== "assistant")) return [];
    const { content } = item;
    const text = typeof content === "string" ? content : Array.isArray(content) ? content.map(textOfPart).join("") : "";
    // Context added by the program, such as the environment.
    return text === "" || (item.role === "user" && /^(<|# AGENTS\.md)/.test(text)) ? [] : [{ role: item.role, text }];
  });
}

const textOfPart = (part: unknown): string =>
  typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? part.text : "";

interface ThreadEvents {
  prompted(text: string): void;
  happened(event: AgentEvent): void;
  began(turn: AbortController): void;
}

function watchThread(thread: Thread, events: ThreadEvents): Thread {
  const start = (run: (signal: AbortSignal) => TurnRun, signal: AbortSignal | undefined): TurnRun => {
    const turn = new AbortController();
    events.began(turn);
    return watchTurn(run(signal === undefined ? turn.signal : AbortSignal.any([turn.signal, signal])), events.happened);
  };
  return {
    get id() {
      return thread.id;
    },
    get items() {
      return thread.items;
    },
    get usage() {
      return thread.usage;
    },
    get lastTokens() {
      return thread.lastTokens;
    },
    run(prompt, options = {}) {
      events.prompted(typeof prompt === "string" ? prompt : prompt.map(textOfPart).join("\n"));
      return start((signal) => thread.run(prompt, { ...options, signal }), options.signal);
    },
    compact: (options = {}) => start((signal) => thread.compact({ ...options, signal }), options.signal),
    end: (reason) => thread.end(reason),
  };
}

function watchTurn(run: TurnRun, happened: (event: AgentEvent) => void): TurnRun {
  return {
    get result() {
      return run.result;
    },
    async *[Symbol.asyncIterator]() {
      for await (const event of run) {
        happened(event);
        yield event;
      }
    },
  };
}
