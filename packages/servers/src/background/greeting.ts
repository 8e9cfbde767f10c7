import type { Socket } from "node:net";
import { BackgroundError } from "./errors.js";
import { GREETING_MS, MAX_GREETING_BYTES } from "./limits.js";

/** The request of a client to a background server, in its first line. */
export type Want = "serve" | "status" | "stop";

/** The state of a background server, in its first line. */
export interface Greeting {
  readonly pid: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Connected clients, without the one that receives this greeting. */
  readonly connections: number;
  /** Existing sessions, including those without a connection. */
  readonly sessions: number;
}

/** Version of the two lines. Servers of different versions of the program have different socket names. */
const VERSION = 1;

export const writeWant = (socket: Socket, want: Want): unknown =>
  socket.write(`${JSON.stringify({ codexBackground: VERSION, want })}\n`);

export const writeGreeting = (socket: Socket, greeting: Greeting): unknown =>
  socket.write(`${JSON.stringify({ codexBackground: VERSION, ...greeting })}\n`);

export const writeRefusal = (socket: Socket, refused: string): unknown =>
  socket.write(`${JSON.stringify({ codexBackground: VERSION, refused })}\n`);

/** Reads the first line of a client; undefined when it closes, sends something else or nothing. Never rejects. */
export async function readWant(socket: Socket): Promise<Want | undefined> {
  const { want } = await readFirst(socket).catch(() => ({ want: undefined }));
  return want === "serve" || want === "status" || want === "stop" ? want : undefined;
}

/**
 * Reads the first line of a server; undefined when the connection ends before it, as with a server that is shutting down.
 * @throws BackgroundError `bad_greeting`, `refused`
 */
export async function readGreeting(socket: Socket): Promise<Greeting | undefined> {
  const line = await readFirst(socket);
  if (line === ENDED) return undefined;
  const { pid, startedAt, connections, sessions, refused } = line;
  if (typeof refused === "string")
    throw new BackgroundError("refused", `the background server refuses this process: ${refused}`);
  if (!isNumber(pid) || !isNumber(startedAt) || !isNumber(connections) || !isNumber(sessions)) {
    throw bad("its first line is no greeting");
  }
  return { pid, startedAt, connections, sessions };
}

const isNumber = (value: unknown): value is number => typeof value === "number";

const ENDED: Readonly<Record<string, unknown>> = {};

/** Reads one line of JSON and nothing after it. The socket stays paused. */
function readFirst(socket: Socket): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const settle = (act: () => void) => {
      clearTimeout(timer);
      socket.off("readable", onReadable).off("end", onEnd).off("close", onEnd);
      act();
    };
    const onEnd = () => settle(() => resolve(ENDED));
    const onReadable = () => {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
        bytes = Buffer.concat([bytes, chunk]);
        const end = bytes.indexOf(LINE_FEED);
        if (end >= 0) {
          if (end + 1 < bytes.length) socket.unshift(bytes.subarray(end + 1));
          return settle(() => parse(bytes.toString("utf8", 0, end), resolve, reject));
        }
        if (bytes.length > MAX_GREETING_BYTES) return settle(() => reject(bad("its first line is too long")));
      }
    };
    const timer = setTimeout(() => settle(() => reject(bad(`no line came within ${GREETING_MS} ms`))), GREETING_MS);
    socket.on("readable", onReadable).once("end", onEnd).once("close", onEnd);
  });
}

const LINE_FEED = 0x0a;

function parse(line: string, resolve: (value: Record<string, unknown>) => void, reject: (error: Error) => void): void {
  try {
    const value: unknown = JSON.parse(line);
    if (
      typeof value === "object" &&
      value !== null &&
      "codexBackground" in value &&
      value.codexBackground === VERSION
    ) {
      return resolve({ ...value });
    }
  } catch {
    // reported below
  }
  reject(bad("its first line is no greeting"));
}

const bad = (why: string): BackgroundError =>
  new BackgroundError("bad_greeting", `the socket does not belong to a background server: ${why}`);
