import { lstatSync, statSync, unlinkSync, utimesSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { readWant, writeGreeting } from "./greeting.js";
import { IDLE_CHECKS, IDLE_MS, MAX_IDLE_CHECK_MS, SOCKET_CHECK_MS } from "./limits.js";
import type { SocketPlace } from "./socket-place.js";

/** A server that listens at a place, and who may use it. */
export interface ListenerOptions {
  place: SocketPlace;
  /** Serves one client on a socket, which it owns. Resolves when the connection is over; never rejects. */
  serve(socket: Socket): Promise<void>;
  /** How many sessions exist, those without a connection included. */
  countSessions(): number;
  /** User id of the process at the other end; undefined where the system does not tell. Others than `uid` are cut off. */
  getPeerUser?: (socket: Socket) => number | undefined;
  uid?: number;
  /** Milliseconds without connections and sessions after which `ended` resolves. Default: 10 minutes. */
  idleMs?: number;
  /** Milliseconds between two checks whether the socket file is still there. Default: 5 seconds. */
  checkMs?: number;
  /** A client of another user was cut off. */
  onRefused?: (uid: number) => void;
}

/** A background server that listens. */
export interface Listener {
  /** Resolves, never rejects, when it was idle for long enough or a client has asked it to stop. */
  readonly ended: Promise<"idle" | "stopped">;
  /** Stops listening and removes the socket. Connections go on. Idempotent. */
  close(): void;
}

/**
 * Listens on the socket of `place`, which only this user may connect to. A socket file that was removed is made again, as
 * sessions would be out of reach otherwise; one that another server has replaced is left alone.
 * @throws Error when the address is in use or cannot be bound
 */
export async function listenInBackground(options: ListenerOptions): Promise<Listener> {
  const listener = new BackgroundListener(options);
  await listener.open();
  return listener;
}

class BackgroundListener implements Listener {
  readonly #options: ListenerOptions;
  readonly #startedAt = Date.now();
  readonly ended: Promise<"idle" | "stopped">;
  #end!: (why: "idle" | "stopped") => void;
  #server: Server | undefined;
  /** Of the socket file. */
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

  async open(): Promise<void> {
    await this.#bind();
    const { idleMs = IDLE_MS, checkMs = SOCKET_CHECK_MS } = this.#options;
    let busyAt = performance.now();
    const checkIdle = () => {
      if (this.#connections > 0 || this.#options.countSessions() > 0) busyAt = performance.now();
      else if (performance.now() - busyAt >= idleMs) this.#end("idle");
    };
    const pauseMs = Math.min(MAX_IDLE_CHECK_MS, Math.max(1, idleMs / IDLE_CHECKS));
    this.#timers = [setInterval(checkIdle, pauseMs), setInterval(() => void this.#checkSocket(), checkMs)];
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#release();
  }

  async #bind(): Promise<void> {
    const { path } = this.#options.place;
    await removeDead(path);
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

  /** Closing a server removes the file of its name, whoever made it. */
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
    socket.on("error", () => {}); // its end is what counts
    const { getPeerUser, uid = process.getuid?.(), onRefused, countSessions, serve } = this.#options;
    const user = getPeerUser?.(socket);
    if (user !== undefined && user !== uid) {
      onRefused?.(user);
      socket.destroy();
      return;
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
      // Left open: it ends with this process, and does not keep it alive.
      socket.unref();
      this.#end("stopped");
    }
  }
}

/** The umask applies while `listen` creates the socket: at no moment may another user connect. */
function listenPrivately(server: Server, path: string): void {
  const before = process.umask(0o177);
  try {
    server.listen({ path });
  } finally {
    process.umask(before);
  }
}

/** What a server that was killed has left. A file that is no socket stays, and so does a socket that answers. */
async function removeDead(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const isDead = await new Promise<boolean>((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
  if (isDead) unlinkSync(path);
}

const getInode = (path: string): number | undefined => lstatSync(path, { throwIfNoEntry: false })?.ino;

/** What cleans runtime directories removes what is old. */
function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // removed meanwhile: seen by the next check
  }
}
