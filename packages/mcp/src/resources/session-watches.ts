import { type Clock, pause } from "@codex/clock";
import type { Conversation } from "@codex/orchestrator";
import { MAX_WATCHED_SESSIONS, UPDATE_MS, WATCH_WAIT_MS } from "../limits.js";
import { readPart } from "./read-session.js";
import { parseUri } from "./session-uri.js";

interface Watcher {
  uri: string;
  onUpdated: (uri: string) => void;
}

interface WatchedSession {
  watchers: Set<Watcher>;
  abort: AbortController;
}

/** Reports changes of the sessions of one client. Sessions of others cannot be watched: they do not exist for it. */
export class SessionWatches {
  readonly #getConversation: () => Promise<Conversation>;
  readonly #clock: Clock;
  readonly #sessions = new Map<number, WatchedSession>();

  constructor(getConversation: () => Promise<Conversation>, clock: Clock) {
    this.#getConversation = getConversation;
    this.#clock = clock;
  }

  /**
   * Calls `onUpdated` when a session has written or ended, at most once a second for each. Other URIs are ignored, and sessions beyond
   * the limit. Returns a function that stops it.
   */
  watch(uris: readonly string[], onUpdated: (uri: string) => void): () => void {
    const stops = [...new Set(uris)].flatMap((uri) => {
      const resource = parseUri(uri);
      return resource === undefined ? [] : [this.#add(resource.session, { uri, onUpdated })];
    });
    return () => {
      for (const stop of stops) stop();
    };
  }

  close(): void {
    for (const { abort } of this.#sessions.values()) abort.abort();
    this.#sessions.clear();
  }

  #add(session: number, watcher: Watcher): () => void {
    const watched = this.#sessions.get(session) ?? this.#start(session);
    if (watched === undefined) return () => {};
    watched.watchers.add(watcher);
    return () => {
      watched.watchers.delete(watcher);
      if (watched.watchers.size === 0) this.#stop(session, watched);
    };
  }

  #start(session: number): WatchedSession | undefined {
    if (this.#sessions.size >= MAX_WATCHED_SESSIONS) return undefined;
    const watched: WatchedSession = { watchers: new Set(), abort: new AbortController() };
    this.#sessions.set(session, watched);
    // Rejects if the session does not exist, has gone or is no longer watched.
    void this.#follow(session, watched)
      .catch(() => {})
      .finally(() => this.#stop(session, watched));
    return watched;
  }

  #stop(session: number, watched: WatchedSession): void {
    watched.abort.abort();
    if (this.#sessions.get(session) === watched) this.#sessions.delete(session);
  }

  async #follow(session: number, { watchers, abort: { signal } }: WatchedSession): Promise<void> {
    const conversation = await this.#getConversation();
    const read = (from: number, waitMs: number) =>
      readPart(conversation, { session, from, waitMs, maxTokens: 1 }, signal);
    let last = await read(0, 0);
    while (last.outcome.kind === "running" || !last.closed) {
      const next = await read(last.end, WATCH_WAIT_MS);
      const changed = next.end > last.end || next.closed !== last.closed || next.outcome.kind !== last.outcome.kind;
      if (changed && !signal.aborted) for (const { uri, onUpdated } of watchers) onUpdated(uri);
      last = next;
      await pause(this.#clock, UPDATE_MS, signal);
    }
  }
}
