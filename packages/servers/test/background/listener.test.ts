import { EventEmitter, once } from "node:events";
import { existsSync, statSync, unlinkSync, watch } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { connectToServer, joinServer } from "../../src/background/connect.js";
import { type Listener, type ListenerOptions, listenInBackground } from "../../src/background/listener.js";
import type { SocketPlace } from "../../src/background/socket-place.js";
import { placeIn, useDirectories } from "./support.js";

const makeDirectory = useDirectories();
const listeners: Listener[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const listener of listeners.splice(0)) listener.close();
});

/** Echoes its input. */
const echo = async (socket: Socket): Promise<void> => {
  sockets.push(socket);
  socket.pipe(socket);
  await once(socket, "close");
};

async function listen(place: SocketPlace, options: Partial<ListenerOptions> = {}): Promise<Listener> {
  const listener = await listenInBackground({ place, serve: echo, countSessions: () => 3, ...options });
  listeners.push(listener);
  return listener;
}

const never = (): Promise<void> => Promise.reject(new Error("a server was started"));

it("serves every client, and reports the number of connections and sessions", async () => {
  const place = placeIn(makeDirectory());
  await listen(place);
  expect(statSync(place.path).mode & 0o777).toBe(0o600);
  const { socket, greeting } = await joinServer(place, never);
  expect(greeting).toMatchObject({ pid: process.pid, connections: 0, sessions: 3 });
  socket.end("hello");
  expect(await text(socket)).toBe("hello");

  const other = await joinServer(place, never);
  const status = await connectToServer(place, "status");
  expect(status?.greeting.connections).toBe(1);
  status?.socket.destroy();
  other.socket.destroy();
});

it("ends on a request to stop, and at the idle timeout", async () => {
  const place = placeIn(makeDirectory());
  const listener = await listen(place, { countSessions: () => 0, idleMs: 600_000 });
  const stopping = await connectToServer(place, "stop");
  expect(await listener.ended).toBe("stopped");
  listener.close();
  expect(existsSync(place.path)).toBe(false);
  stopping?.socket.destroy();

  const idle = await listen(place, { countSessions: () => 0, idleMs: 20 });
  expect(await idle.ended).toBe("idle");
});

it("is not idle with a session or a connection", async () => {
  const place = placeIn(makeDirectory());
  const checks = new EventEmitter();
  let sessions = 1;
  const countSessions = () => {
    checks.emit("check");
    return sessions;
  };
  const waitForChecks = async () => {
    for (let count = 0; count < 30; count += 1) await once(checks, "check");
  };
  const listener = await listen(place, { countSessions, idleMs: 20 });
  let ended = false;
  void listener.ended.then(() => {
    ended = true;
  });
  await waitForChecks();
  expect(ended).toBe(false);
  const { socket } = await joinServer(place, never);
  sessions = 0;
  await waitForChecks();
  expect(ended).toBe(false);
  socket.destroy();
  expect(await listener.ended).toBe("idle");
});

it("tells a client that it refuses why, and serves it nothing", async () => {
  const place = placeIn(makeDirectory());
  await listen(place, { refuse: () => "it is another user's", serve: never });
  for (const want of ["serve", "status", "stop"] as const) {
    await expect(connectToServer(place, want)).rejects.toThrow("refuses this process: it is another user's");
  }
});

it.each(["hello\n", "{}\n", '{"codexBackground":1,"want":"all"}\n', "x".repeat(10_000)])(
  "disconnects a client whose first line is invalid (%#)",
  async (line) => {
    const place = placeIn(makeDirectory());
    await listen(place);
    const socket = connect(place.path);
    sockets.push(socket);
    socket.on("error", () => {});
    socket.write(line);
    socket.resume();
    await once(socket, "close");
    const status = await connectToServer(place, "status");
    expect(status).toBeDefined();
    status?.socket.destroy();
  },
);

it("creates a removed socket again", async () => {
  const place = placeIn(makeDirectory());
  await listen(place, { checkMs: 5 });
  const watcher = watch(dirname(place.path));
  unlinkSync(place.path);
  while (!existsSync(place.path)) await once(watcher, "change");
  watcher.close();
  const status = await connectToServer(place, "status");
  expect(status?.greeting.pid).toBe(process.pid);
  status?.socket.destroy();
});

it("leaves the socket of another server alone", async () => {
  const place = placeIn(makeDirectory());
  const first = await listen(place, { checkMs: 600_000 });
  unlinkSync(place.path);
  await listen(place);
  first.close();
  const status = await connectToServer(place, "status");
  expect(status).toBeDefined();
  status?.socket.destroy();
});

it("reports a socket of another program", async () => {
  const place = placeIn(makeDirectory());
  const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  server.listen(place.path);
  await once(server, "listening");
  await expect(connectToServer(place, "serve")).rejects.toThrow(
    "not belong to a background server: its first line is no greeting",
  );
  server.close();
});

it("starts one server for concurrent joins, also where a dead one left its socket", async () => {
  const place = placeIn(makeDirectory());
  let starts = 0;
  const start = async () => {
    starts += 1;
    await listen(place);
  };
  const joined = await Promise.all(Array.from({ length: 8 }, () => joinServer(place, start)));
  expect(starts).toBe(1);
  for (const { socket } of joined) socket.destroy();
});

it("says what to set where no server can be started in its directory", async () => {
  const place = { ...placeIn(makeDirectory()), lock: "/nonexistent/codex-ts/server.lock" };
  await expect(joinServer(place, never)).rejects.toThrow(
    /^\/nonexistent\/codex-ts cannot be written: a directory of its path does not exist; set XDG_RUNTIME_DIR to /,
  );
});

it("joins the next server when one is shutting down", async () => {
  const place = placeIn(makeDirectory());
  const ending = createServer((socket) => {
    socket.destroy();
    ending.close();
  });
  ending.listen(place.path);
  await once(ending, "listening");
  const { socket } = await joinServer(place, async () => void (await listen(place)));
  socket.end("hello");
  expect(await text(socket)).toBe("hello");
});
