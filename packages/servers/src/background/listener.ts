import { lstatSync, utimesSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { listenPrivately, removeDeadSocket } from "@codex/channel/unix";
import { readWant, writeGreeting, writeRefusal } from "./greeting.js";
import { IDLE_CHECKS, IDLE_MS, MAX_IDLE_CHECK_MS, SOCKET_CHECK_MS } from "./limits.js";
import type { SocketPlace } from "./socket-place.js";

/** Options of `listenInBackground`. */
export interface ListenerOptions {
  place: SocketPlace;
  /** Serves one client on a socket, which it owns. Resolves when the connection has ended; never rejects. */
  serve(socket: Socket): Promise<void>;
  /** The number of existing sessions, including those without a connection. Called at each idle check. */
  countSessions(): number;
  /** Why a client is not served, which it is told; undefined: it is. */
  refuse?: (socket: Socket) => string | undefined;
  /** Milliseconds without connections and sessions after which `ended` resolves. Default: 10 minutes. */
  idleMs?: number;
  /** Milliseconds between two checks that the socket file exists. Default: 5 seconds. */
  checkMs?: number;
}

/** A background server that listens. */
export interface Listener {
  /** Resolves when the server was idle for long enough or a client has asked it to stop. Never rejects. */
  readonly ended: Promise<"idle" | "stopped">;
  /** Stops listening and removes the socket. Connections stay open. Idempotent. */
  close(): void;
}

/**
 * Listens on the socket of `place`, which only this user may connect to. A socket file that was removed is created again, as
 * its sessions could not be resumed otherwise; one that another server has replaced is left alone.
 * @throws Error when the address is in use or cannot be bound
 */
export function listenInBackground(options: ListenerOptions): Promise<Listener> {
  return new BackgroundListener(options).open();
}

class BackgroundListener implements Listener {
  readonly #options: ListenerOptions;
  readonly #startedAt = Date.now();
  readonly ended: Promise<"idle" | "stopped">;
  #end!: (why: "idle" | "stopped") => void;
  #server: Server | undefined;
  /** Inode of the socket file. */
  #inode: number | undefined;
  #connections = 0;
  #timers: NodeJS.Timeout[] = [];
  #isClosed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async open(): Promise<this> {
    await this.#bind();
    const { idleMs = IDLE_MS, checkMs = SOCKET_CHECK_MS } = this.#options;
    let busyAt = performance.now();
    const checkIdle = () => {
      if (this.#options.countSessions() + this.#connections > 0) busyAt = performance.now();
      else if (performance.now() - busyAt >= idleMs) this.#end("idle");
    };
    const pauseMs = Math.min(MAX_IDLE_CHECK_MS, Math.max(1, idleMs / IDLE_CHECKS));
    this.#timers = [setInterval(checkIdle, pauseMs), setInterval(() => void this.#checkSocket(), checkMs)];
    return this;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#release();
  }

  async #bind(): Promise<void> {
    const { path } = this.#options.place;
    await removeDeadSocket(path);
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => void this.#accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.once("listening", resolve);
      listenPrivately(server, path);
    });
    server.on("error", () => {}); // such as too many open files: that connection is lost, the server is not
    this.#server = server;
    this.#inode = lstatSync(path).ino;
  }

  /** Closing a server removes the file at its path, also one that another server has created. */
  #release(): void {
    const server = this.#server;
    this.#server = undefined;
    const inode = getInode(this.#options.place.path);
    if (inode === undefined || inode === this.#inode) server?.close();
    else server?.unref();
  }

  async #checkSocket(): Promise<void> {
    const { path } = this.#options.place;
    const inode = getInode(path);
    if (inode === this.#inode) return touch(path);
    if (inode !== undefined || this.#isClosed) return;
    this.#release();
    await this.#bind().catch(() => {}); // the directory is gone as well: tried again at the next check
  }

  async #accept(socket: Socket): Promise<void> {
    socket.on("error", () => {}); // "close" follows
    const { refuse, countSessions, serve } = this.#options;
    const refused = refuse?.(socket);
    if (refused !== undefined) {
      writeRefusal(socket, refused);
      return socket.destroySoon();
    }
    const want = await readWant(socket);
    if (want === undefined || this.#isClosed) {
      socket.destroy();
      return;
    }
    const about = { pid: process.pid, startedAt: this.#startedAt };
    writeGreeting(socket, { ...about, connections: this.#connections, sessions: countSessions() });
    if (want === "serve") {
      this.#connections += 1;
      await serve(socket);
      this.#connections -= 1;
    } else if (want === "status") {
      socket.end();
      socket.resume();
    } else {
      // Stays open until this process ends, without keeping it alive.
      socket.unref();
      this.#end("stopped");
    }
  }
}

const getInode = (path: string): number | undefined => lstatSync(path, { throwIfNoEntry: false })?.ino;

/** Keeps the socket from cleaners, which remove old files of runtime directories. */
function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // removed in the meantime: the next check handles it
  }
}
