import type { Socket } from "node:net";
import { BackgroundError } from "./errors.js";
import { GREETING_MS, MAX_GREETING_BYTES } from "./limits.js";

/** What a client of a background server wants; its first line. */
export type Want = "serve" | "status" | "stop";

/** What a background server says of itself; its first line. */
export interface Greeting {
  readonly pid: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Clients that are connected, the one that asks not counted. */
  readonly connections: number;
  /** Sessions that exist, those without a connection included. */
  readonly sessions: number;
}

/** Version of the two lines. The name of a socket tells servers of different versions apart. */
const VERSION = 1;

export const writeWant = (socket: Socket, want: Want): unknown =>
  socket.write(`${JSON.stringify({ codexBackground: VERSION, want })}\n`);

export const writeGreeting = (socket: Socket, greeting: Greeting): unknown =>
  socket.write(`${JSON.stringify({ codexBackground: VERSION, ...greeting })}\n`);

/** The first line of a client; undefined for a peer that ends, sends something else or nothing. Never rejects. */
export async function readWant(socket: Socket): Promise<Want | undefined> {
  const { want } = await readFirst(socket).catch(() => ({ want: undefined }));
  return want === "serve" || want === "status" || want === "stop" ? want : undefined;
}

/**
 * The first line of a server; undefined when the connection ends before it, as that of a server which is just ending.
 * @throws BackgroundError `bad_greeting`
 */
export async function readGreeting(socket: Socket): Promise<Greeting | undefined> {
  const line = await readFirst(socket);
  if (line === ENDED) return undefined;
  const { pid, startedAt, connections, sessions } = line;
  const members = [pid, startedAt, connections, sessions];
  if (!members.every((member) => typeof member === "number")) throw bad("its first line is no greeting");
  return line as unknown as Greeting; // each member was checked
}

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
  new BackgroundError("bad_greeting", `what listens on the socket is no background server: ${why}`);
