import { statSync, unlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { FileLockError, withFileLock } from "@codex/file-lock";
import { BackgroundError } from "./errors.js";
import { type Greeting, readGreeting, type Want, writeWant } from "./greeting.js";
import { LOCK_MS, MAX_JOINS } from "./limits.js";
import { notWritten, type SocketPlace } from "./socket-place.js";

/** A connection to a background server, after its greeting. The socket is paused; the caller owns it. */
export interface Joined {
  readonly socket: Socket;
  readonly greeting: Greeting;
}

/**
 * Connects to the server that listens at `place`; undefined when there is none.
 * @throws BackgroundError `bad_greeting`, or a system error such as EACCES
 */
export async function connectToServer({ path }: SocketPlace, want: Want): Promise<Joined | undefined> {
  const socket = await connectSocket(path);
  if (socket === undefined) return undefined;
  socket.on("error", () => {}); // "close" follows
  writeWant(socket, want);
  try {
    const greeting = await readGreeting(socket);
    if (greeting !== undefined) return { socket, greeting };
    socket.destroy();
    return undefined;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/**
 * Connects to the server at `place`. Where there is none, `start` is called, by one process at a time; it resolves when the
 * server listens.
 * @throws BackgroundError, or what `start` throws
 */
export async function joinServer(place: SocketPlace, start: () => Promise<void>): Promise<Joined> {
  for (let attempt = 0; attempt < MAX_JOINS; attempt += 1) {
    const joined = await connectToServer(place, "serve");
    if (joined !== undefined) return joined;
    let isLocked = false;
    await withFileLock(place.lock, { timeoutMs: LOCK_MS }, async () => {
      isLocked = true;
      if (await isListening(place.path)) return;
      await start();
    }).catch((cause: unknown) => {
      throw isLocked || cause instanceof FileLockError ? cause : notWritten(dirname(place.lock), cause);
    });
  }
  throw new BackgroundError(
    "start_failed",
    `the background server at ${place.path} ended right away ${MAX_JOINS} times`,
  );
}

/** Whether a server listens; removes the socket file of one that was killed. */
async function isListening(path: string): Promise<boolean> {
  const socket = await connectSocket(path);
  socket?.destroy();
  if (socket === undefined && statSync(path, { throwIfNoEntry: false })?.isSocket()) unlinkSync(path);
  return socket !== undefined;
}

function connectSocket(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED") resolve(undefined);
      else reject(error);
    });
  });
}
