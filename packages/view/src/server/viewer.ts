import type { RawData, WebSocket } from "ws";
import { safeParse } from "zod/mini";
import { MAX_OPEN_SESSIONS, MAX_UNREAD_BYTES, UNSENT_BYTES } from "../limits.js";
import type { Entity } from "../wire/entities.js";
import { type Action, type PageMessage, pageMessageSchema, type ServerMessage } from "../wire/messages.js";
import type { Admission } from "../wire/port.js";
import type { Hub } from "./hub.js";
import { OutputFollower } from "./output-follower.js";
import { Pace } from "./pace.js";

/** Requests of a page other than for output. */
export interface ViewerRequests {
  act(viewer: string, action: Action): void;
  createLink(rights: "read" | "answer"): string;
  /** Pages that are connected, this one included. */
  pages(): number;
}

/** Maximum number of entities in one message. */
const BATCH = 100;

/**
 * One connected page. Pending changes are a set of keys, not a queue: a page that stops reading uses no more memory, and receives
 * the newest values once it reads again.
 */
export class Viewer {
  readonly admission: Admission;
  readonly pace: Pace;
  readonly #socket: WebSocket;
  readonly #hub: Hub;
  readonly #requests: ViewerRequests;
  readonly #unsent = new Set<string>();
  readonly #followers = new Map<number, OutputFollower>();
  readonly #stop: () => void;
  #isReady = false;
  #isFlushing = false;

  constructor(socket: WebSocket, admission: Admission, hub: Hub, requests: ViewerRequests) {
    this.#socket = socket;
    this.admission = admission;
    this.#hub = hub;
    this.#requests = requests;
    this.pace = new Pace(() => requests.pages(), Date.now);
    const { rights, viewer } = admission;
    this.send({ type: "hello", rights, viewer });
    for (const key of hub.keys) this.#unsent.add(key);
    this.#stop = hub.add({ changed: (key) => this.#changed(key), dropped: (key) => this.#mark(key) });
    socket.on("message", (data, isBinary) => this.#receive(data, isBinary));
    socket.on("error", () => {}); // `close` follows
    socket.once("close", () => this.#close());
    this.#flushSoon();
  }

  /** Sends pending changes, and closes the connection. */
  end(): void {
    this.#flush();
    this.#socket.close(1001, "the view has ended");
  }

  notify(text: string, isProblem: boolean): void {
    this.send({ type: "notice", text, isProblem });
  }

  send(message: ServerMessage): void {
    this.#socket.send(JSON.stringify(message), this.#sent);
  }

  sendFrame(frame: Uint8Array): void {
    this.#socket.send(frame, this.#sent);
  }

  get hasRoom(): boolean {
    return this.#socket.readyState === this.#socket.OPEN && this.#socket.bufferedAmount < UNSENT_BYTES;
  }

  readonly #sent = () => {
    if (!this.hasRoom) return;
    if (this.#unsent.size > 0) this.#flushSoon();
    for (const follower of this.#followers.values()) follower.continue();
  };

  #close(): void {
    this.#stop();
    for (const follower of this.#followers.values()) follower.close();
    this.#followers.clear();
    this.#unsent.clear();
  }

  #changed(key: string): void {
    const entity = this.#hub.get(key);
    if (entity?.kind === "session" && entity.state !== "running") this.#followers.get(entity.id)?.endPause();
    this.#mark(key);
  }

  #mark(key: string): void {
    this.#unsent.add(key);
    this.#flushSoon();
  }

  /** Changes within one turn of the event loop are sent as one message. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#unsent.size > 0 && this.hasRoom) {
      const keys = [...this.#unsent].slice(0, BATCH);
      const entities: Entity[] = [];
      const dropped: string[] = [];
      for (const key of keys) {
        this.#unsent.delete(key);
        const entity = this.#hub.get(key);
        if (entity === undefined) dropped.push(key);
        else entities.push(entity);
      }
      if (entities.length > 0) this.send({ type: "set", entities });
      if (dropped.length > 0) this.send({ type: "drop", keys: dropped });
    }
    if (this.#isReady || this.#unsent.size > 0) return;
    this.#isReady = true;
    this.send({ type: "ready" });
  }

  #receive(data: RawData, isBinary: boolean): void {
    const message = isBinary ? undefined : parseMessage(String(data));
    if (message === undefined) return this.#socket.close(1008, "not a message of the page");
    // Otherwise its responses would fill the memory.
    if (this.#socket.bufferedAmount > MAX_UNREAD_BYTES) return this.#socket.terminate();
    switch (message.type) {
      case "open":
        return this.#open(message.session, message.from);
      case "close":
        this.#followers.get(message.session)?.close();
        return void this.#followers.delete(message.session);
      case "ack":
        return this.#followers.get(message.session)?.acknowledge(message.offset);
      case "link":
        return this.#createLink(message.rights);
      case "answer":
      case "input":
      case "stop":
        if (this.admission.rights !== "answer") return this.notify("This link is read-only.", true);
        return this.#requests.act(this.admission.viewer, message);
    }
  }

  #open(session: number, from: number): void {
    this.#followers.get(session)?.close();
    this.#followers.delete(session);
    if (this.#followers.size >= MAX_OPEN_SESSIONS) {
      return this.notify(`${MAX_OPEN_SESSIONS} terminals are open (limit): close one of them.`, true);
    }
    const follower = new OutputFollower(this.#hub, session, from, this);
    this.#followers.set(session, follower);
    follower.continue();
  }

  #createLink(rights: "read" | "answer"): void {
    if (rights === "answer" && this.admission.rights !== "answer") {
      return this.notify("This link is read-only.", true);
    }
    this.send({ type: "link", rights, url: this.#requests.createLink(rights) });
  }
}

function parseMessage(text: string): PageMessage | undefined {
  try {
    const parsed = safeParse(pageMessageSchema, JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
