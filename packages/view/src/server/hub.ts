import { type Entity, keyOf } from "../wire/entities.js";
import type { FromServer, OutputPart } from "../wire/port.js";

/** Receives changes. */
export interface Listener {
  changed(key: string): void;
  dropped(key: string): void;
}

interface Read {
  readonly request: number;
  readonly session: number;
  readonly from: number;
  /** Undefined if there is no such session. */
  readonly waiters: Set<(part: OutputPart | undefined) => void>;
}

/** State shared by all pages: the newest value of each entity, and reads of output. */
export class Hub {
  readonly #post: (message: FromServer) => void;
  readonly #entities = new Map<string, Entity>();
  readonly #listeners = new Set<Listener>();
  readonly #reads = new Map<string, Read>();
  readonly #byRequest = new Map<number, Read>();
  #requests = 0;

  constructor(post: (message: FromServer) => void) {
    this.#post = post;
  }

  get keys(): Iterable<string> {
    return this.#entities.keys();
  }

  get(key: string): Entity | undefined {
    return this.#entities.get(key);
  }

  set(entities: readonly Entity[]): void {
    for (const entity of entities) {
      const key = keyOf(entity);
      this.#entities.set(key, entity);
      for (const listener of this.#listeners) listener.changed(key);
    }
  }

  drop(keys: readonly string[]): void {
    for (const key of keys) {
      this.#entities.delete(key);
      for (const listener of this.#listeners) listener.dropped(key);
    }
  }

  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Requests output from an offset on; equal requests are made once. Returns a function that cancels it. */
  read(session: number, from: number, receive: (part: OutputPart | undefined) => void): () => void {
    const key = `${session} ${from}`;
    const read = this.#reads.get(key) ?? this.#begin(key, session, from);
    read.waiters.add(receive);
    return () => {
      if (!read.waiters.delete(receive) || read.waiters.size > 0) return;
      this.#end(read);
      this.#post({ type: "cancel", request: read.request });
    };
  }

  answered(request: number, part: OutputPart | undefined): void {
    const read = this.#byRequest.get(request);
    if (read === undefined) return;
    this.#end(read);
    for (const receive of read.waiters) receive(part);
    read.waiters.clear();
  }

  #begin(key: string, session: number, from: number): Read {
    this.#requests += 1;
    const read: Read = { request: this.#requests, session, from, waiters: new Set() };
    this.#reads.set(key, read);
    this.#byRequest.set(read.request, read);
    this.#post({ type: "read", request: read.request, session, from });
    return read;
  }

  #end({ request, session, from }: Read): void {
    this.#reads.delete(`${session} ${from}`);
    this.#byRequest.delete(request);
  }
}
