import { describe, expect, it } from "vitest";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { MAX_QUICK_DISCONNECTS, MAX_REQUESTS_IN_FLIGHT, MAX_SENDS, QUICK_DISCONNECT_MS } from "../../src/limits.js";
import {
  type ReceivedRequest,
  Recorder,
  ScriptedClock,
  type ScriptedConnection,
  ScriptedServer,
  START,
  useClients,
} from "../scripted-server.js";

describe("a consumer or listener that throws", () => {
  const own = useClients();

  it.each([
    [
      "at once",
      () => {
        throw new Error("a bug");
      },
    ],
    ["later", () => Promise.reject(new Error("a bug"))],
  ])("%s gets no more events; the connection and its other processes are not affected", async (_name, consume) => {
    const server = new ScriptedServer();
    const clock = new ScriptedClock();
    const broken = () => {
      throw new Error("a bug");
    };
    const listeners = { onInterrupted: broken, onResumed: broken, onLost: broken };
    const connecting = own(ExecServerClient.connect(server, { clock, random: () => 0, ...listeners }), clock);
    const connection = await server.accept();
    await connection.shakeHands("session");
    const client = await connecting;
    const failing = client.start({ ...START, processId: "f" }, consume);
    await connection.start();
    await failing;
    const recorder = new Recorder();
    const starting = client.start({ ...START, processId: "p" }, recorder.take);
    await connection.start();
    await starting;
    for (const processId of ["f", "p"]) {
      await connection.notify("process/output", { processId, seq: 1, stream: "stdout", chunk: "aGk=" });
    }
    await connection.notify("process/output", { processId: "p", seq: 2, stream: "stdout", chunk: "aGk=" });
    await expect.poll(() => recorder.events.length).toBe(2);
    expect(client.sessionId).toBe("session");
  });
});

describe("a connection that was cut", () => {
  const own = useClients();

  async function connect(options: { canReopen?: boolean } = {}) {
    const server = new ScriptedServer(options.canReopen);
    const clock = new ScriptedClock();
    const connecting = own(ExecServerClient.connect(server, { clock, random: () => 0 }), clock);
    const connection = await server.accept();
    await connection.shakeHands("session");
    return { server, clock, connection, client: await connecting };
  }

  async function startOne(client: ExecServerClient, connection: ScriptedConnection, processId = "p") {
    const recorder = new Recorder();
    const starting = client.start({ ...START, processId, pipeStdin: true }, recorder.take);
    await connection.start();
    return { recorder, process: await starting };
  }

  /** It is the next thing that comes: nothing else was sent before. */
  async function askSomethingElse(client: ExecServerClient, connection: ScriptedConnection) {
    const asking = client.environment.status();
    await connection.respond(await connection.take("environment/status"), { status: "ready" });
    await asking;
  }

  it("is resumed at once, and what was missed is read", async () => {
    const { server, clock, connection, client } = await connect();
    const { recorder } = await startOne(client, connection);
    await connection.output("p", 1, "a");
    await connection.output("p", 2, "b");
    await recorder.until("output");
    await connection.cut();

    const second = await server.accept();
    const hello = await second.shakeHands("session");
    expect(hello).toEqual({
      id: 1,
      method: "initialize",
      params: { clientName: "codex-ts", outcomes: true, resumeSessionId: "session" },
    });
    await second.output("p", 4, "d");
    const request = await second.read([[3, "c"]], { nextSeq: 4 });
    expect(request.params).toEqual({ processId: "p", afterSeq: 2, maxBytes: null, waitMs: 0 });
    await second.exited("p", 5, 0);
    await second.closed("p", 6);
    await recorder.until("closed");
    expect(recorder.entries).toEqual(["a", "b", "c", "d", "exited 0", "closed"]);
    expect(clock.timers).not.toContain(50);
  });

  it("learns of an exit that it missed, with dropped output reported as a gap", async () => {
    const { server, connection, client } = await connect();
    const { recorder } = await startOne(client, connection);
    await connection.output("p", 1, "a");
    await recorder.until("output");
    await connection.cut();
    const second = await server.accept();
    await second.shakeHands("session");
    await second.read(
      [
        [5, "e"],
        [6, "f"],
      ],
      { nextSeq: 9, exited: true, exitCode: 7, closed: true },
    );
    await recorder.until("closed");
    expect(recorder.entries).toEqual(["a", "gap of 3", "e", "f", "exited 7", "closed"]);
  });

  it("is tried again after pauses that grow with the outage, while the old one still holds the session as well", async () => {
    const { server, clock, connection, client } = await connect();
    await startOne(client, connection);
    server.refusals = 2;
    const pauses = () => clock.timers.filter((ms) => ms < 1000);
    await connection.cut();
    await untilTrue(() => pauses().length === 1);
    clock.pass(50);
    await untilTrue(() => pauses().length === 2);
    clock.pass(3_000);
    const busy = await server.accept();
    const text = "session session is already attached to another connection";
    await busy.refuse(await busy.take("initialize"), -32010, text);
    await untilTrue(() => pauses().length === 3);
    clock.pass(1_000);
    const second = await server.accept();
    await second.shakeHands("session");
    await second.read([], { nextSeq: 1 });
    expect(pauses()).toEqual([50, 50, 152.5]);
  });

  it("fails what ran when the session is unknown, and the next start opens a fresh one", async () => {
    const { server, connection, client } = await connect();
    const { recorder, process } = await startOne(client, connection);
    await connection.cut();
    const second = await server.accept();
    await second.refuse(await second.take("initialize"), -32600, "unknown session id session");
    await recorder.until("failed");
    expect(recorder.entries).toEqual(["failed session_lost"]);
    await expect(process.write(Buffer.from("x"))).rejects.toMatchObject({ code: "session_lost" });

    const starting = client.start({ ...START, processId: "p" }, () => {});
    const third = await server.accept();
    expect((await third.shakeHands("other")).params.resumeSessionId).toBe(null);
    await third.start();
    await starting;
    expect(client.sessionId).toBe("other");
  });

  it("fails what ran when the server answers with another session", async () => {
    const { server, connection, client } = await connect();
    const { recorder } = await startOne(client, connection);
    await connection.cut();
    const second = await server.accept();
    await second.respond(await second.take("initialize"), { sessionId: "another", environmentInfo: {} });
    await recorder.until("failed");
  });

  it("fails running processes when the recovery window has passed", async () => {
    const { server, clock, connection, client } = await connect();
    const { recorder } = await startOne(client, connection);
    server.refusals = Number.POSITIVE_INFINITY;
    await connection.cut();
    await untilTrue(() => clock.timers.includes(45_000));
    clock.pass(45_000);
    await recorder.until("failed");
    expect(recorder.events).toMatchObject([
      {
        kind: "failed",
        error: { message: "the session with the exec-server was not resumed: no success within 45000 ms" },
      },
    ]);
  });

  it("sends a size again, and no other before it is answered", async () => {
    const { server, connection, client } = await connect();
    const { process } = await startOne(client, connection);
    const sizes = [30, 31].map((rows) => process.resize({ rows, cols: 100 }));
    const sent = await connection.take("process/resize");
    expect(sent.params).toEqual({ processId: "p", rows: 30, cols: 100 });
    await askSomethingElse(client, connection);
    await connection.cut();

    const second = await server.accept();
    await second.shakeHands("session");
    await second.read([], { nextSeq: 1 });
    for (const rows of [30, 31]) {
      const request = await second.take("process/resize");
      expect(request.params).toEqual({ processId: "p", rows, cols: 100 });
      await second.respond(request, {});
    }
    expect(await Promise.all(sizes)).toEqual([true, true]);
  });

  it("sends a write again with its id, and no other in between", async () => {
    const { server, connection, client } = await connect();
    const { process } = await startOne(client, connection);
    const first = process.write(Buffer.from("one"));
    const next = process.write(Buffer.from("two"));
    const sent = await connection.take("process/write");
    await askSomethingElse(client, connection);
    await connection.cut();
    const second = await server.accept();
    await second.shakeHands("session");
    await second.read([], { nextSeq: 1 });
    const again = await second.take("process/write");
    expect(again.params).toEqual(sent.params);
    expect(again.params).toEqual({ processId: "p", chunk: "b25l", writeId: "1" });
    await second.respond(again, { status: "accepted" });
    expect(await first).toBe("accepted");
    const other = await second.take("process/write");
    expect(other.params).toEqual({ processId: "p", chunk: "dHdv", writeId: "2" });
    await second.respond(other, { status: "stdinClosed" });
    expect(await next).toBe("stdinClosed");
  });

  it("does not repeat a start: it fails, and is ended after the resume", async () => {
    const { server, connection, client } = await connect();
    const { recorder } = await startOne(client, connection, "kept");
    const lost = client.start({ ...START, processId: "lost" }, () => {});
    await connection.take("process/start");
    await connection.cut();
    await expect(lost).rejects.toMatchObject({ name: "ClientError", code: "connection_lost" });
    const second = await server.accept();
    await second.shakeHands("session");
    await second.read([], { nextSeq: 3, exited: true, exitCode: 0, closed: true });
    const ended = await second.take("process/terminate");
    expect(ended.params).toEqual({ processId: "lost" });
    await second.respond(ended, { running: true });
    await recorder.until("closed");
  });

  it("does not send a signal twice", async () => {
    const { connection, client } = await connect();
    const { process } = await startOne(client, connection);
    const signalled = process.signal("interrupt");
    await connection.take("process/signal");
    await connection.cut();
    await expect(signalled).rejects.toMatchObject({ code: "connection_lost" });
  });

  it("may be cut again while the missed output is read", async () => {
    const { server, clock, connection, client } = await connect();
    const { recorder } = await startOne(client, connection);
    await connection.cut();
    const second = await server.accept();
    await second.shakeHands("session");
    await second.take("process/read");
    await second.cut();
    await untilTrue(() => clock.timers.includes(50));
    clock.pass(50);
    const third = await server.accept();
    await third.shakeHands("session");
    await third.read([[1, "a"]], { nextSeq: 4, exited: true, exitCode: 0, closed: true });
    await recorder.until("closed");
    expect(recorder.entries).toEqual(["a", "exited 0", "closed"]);
  });

  it("loses one process alone when the server knows the others", async () => {
    const { server, connection, client } = await connect();
    const one = await startOne(client, connection, "one");
    const two = await startOne(client, connection, "two");
    await connection.cut();
    const second = await server.accept();
    await second.shakeHands("session");
    const request = await second.take("process/read");
    expect(request.params.processId).toBe("one");
    await second.refuse(request, -32600, "unknown process id one");
    await second.read([], { nextSeq: 1 });
    await one.recorder.until("failed");
    await second.output("two", 1, "alive");
    await two.recorder.until("output");
    expect(two.recorder.entries).toEqual(["alive"]);
  });

  it("is resumed after a malformed message", async () => {
    const { server, connection, client } = await connect();
    const { recorder } = await startOne(client, connection);
    await connection.notify("process/output", { processId: "p", stream: "stdout", chunk: "YQ==" });
    const second = await server.accept();
    await second.shakeHands("session");
    await second.read([[1, "a"]], { nextSeq: 2 });
    await second.read([], { nextSeq: 2 });
    await recorder.until("output");
  });

  it("ends file handles and watches, and fails what would change something", async () => {
    const { server, connection, client } = await connect();
    const { fileSystem } = client;
    const opening = fileSystem.open("h", "/f", { mode: "replace" });
    await connection.respond(await connection.take("fs/open"), { handleId: "h" });
    await opening;
    const watching = fileSystem.watchMissing(["/m"]);
    await connection.respond(await connection.take("fs/watchMissing"), { watching: true });
    const { changed } = await watching;
    const removing = fileSystem.remove("/f");
    await connection.take("fs/remove");
    await connection.cut();
    await expect(removing).rejects.toMatchObject({ name: "ClientError", code: "connection_lost" });
    expect(await changed).toBe("lost");
    await (await server.accept()).shakeHands("session");
    await expect(fileSystem.close("h")).rejects.toMatchObject({ name: "ClientError", code: "connection_lost" });
  });

  it("fails a streamed body after what had arrived, and asks again for what only looks", async () => {
    const { server, connection, client } = await connect();
    const streaming = client.http.stream({ url: "http://x" });
    const request = await connection.take("http/request");
    await connection.respond(request, { status: 200, headers: [], bodyBase64: "" });
    const delta = { requestId: request.params.requestId, seq: 1, deltaBase64: "YQ==", done: false, error: null };
    await connection.notify("http/request/bodyDelta", delta);
    const { body } = await streaming;
    const looking = client.fileSystem.getMetadata("/f");
    await connection.take("fs/getMetadata");
    await connection.cut();
    const pieces: string[] = [];
    const reading = (async () => {
      for await (const piece of body) pieces.push(piece.toString());
    })();
    await expect(reading).rejects.toMatchObject({ name: "ClientError", code: "connection_lost" });
    expect(pieces).toEqual(["a"]);
    const second = await server.accept();
    await second.shakeHands("session");
    const metadata = { isDirectory: false, isFile: true, isSymlink: false, size: 1, createdAtMs: 0, modifiedAtMs: 2 };
    await second.respond(await second.take("fs/getMetadata"), metadata);
    expect(await looking).toEqual(metadata);
  });

  it("is not opened again and again without a pause by a server that breaks each one", async () => {
    const { server, clock, connection, client } = await connect();
    await startOne(client, connection);
    await connection.cut();
    for (let cuts = 1; cuts < MAX_QUICK_DISCONNECTS; cuts += 1) {
      const next = await server.accept();
      await next.shakeHands("session");
      await next.read([], { nextSeq: 1 });
      await untilTrue(() => client.sessionId !== undefined);
      await next.cut();
    }
    const last = await server.accept();
    await last.shakeHands("session");
    await last.read([], { nextSeq: 1 });
    await untilTrue(() => client.sessionId !== undefined);
    const { attempts } = server;
    await last.cut();
    await untilTrue(() => clock.timers.includes(1_000));
    expect(server.attempts).toBe(attempts);
    clock.pass(1_000);
    await (await server.accept()).shakeHands("session");
  });

  it("is polled a bounded number of times for one response", async () => {
    const { server, clock, connection, client } = await connect();
    const looking = client.fileSystem.getMetadata("/f");
    let current = connection;
    for (let sends = 1; sends <= MAX_SENDS; sends += 1) {
      await current.take("fs/getMetadata");
      clock.pass(QUICK_DISCONNECT_MS);
      await current.cut();
      if (sends === MAX_SENDS) break;
      current = await server.accept();
      await current.shakeHands("session");
    }
    await expect(looking).rejects.toMatchObject({ code: "connection_lost" });
  });

  it("loses everything over a channel that cannot be opened again", async () => {
    const { connection, client } = await connect({ canReopen: false });
    const { recorder } = await startOne(client, connection);
    await connection.cut();
    await recorder.until("failed");
    await expect(client.start({ ...START, processId: "q" }, () => {})).rejects.toMatchObject({ code: "closed" });
  });
});

describe("a handshake", () => {
  it("that is not answered ends in time", async () => {
    const server = new ScriptedServer();
    const clock = new ScriptedClock();
    const connecting = ExecServerClient.connect(server, { clock, initializeTimeoutMs: 700 });
    const connection = await server.accept();
    await connection.take("initialize");
    await untilTrue(() => clock.timers.includes(700));
    clock.pass(700);
    await expect(connecting).rejects.toMatchObject({
      code: "initialize_timeout",
      message: "the exec-server did not answer initialize within 700 ms",
    });
  });

  it("that is refused keeps the server's error", async () => {
    const server = new ScriptedServer();
    const connecting = ExecServerClient.connect(server);
    const connection = await server.accept();
    await connection.refuse(await connection.take("initialize"), -32600, "the limit of 1 sessions is reached");
    await expect(connecting).rejects.toMatchObject({ name: "RpcError", code: -32600 });
  });
});

/** Resolves once the condition holds, which takes a few turns of the event loop. */
async function untilTrue(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe("requests at a server that is slow", () => {
  const own = useClients();

  it("keep their places until they are answered, also when their callers have given them up", async () => {
    const server = new ScriptedServer();
    const clock = new ScriptedClock();
    const connecting = own(ExecServerClient.connect(server, { clock, random: () => 0 }), clock);
    const connection = await server.accept();
    await connection.shakeHands("session");
    const { environment } = await connecting;
    const abort = new AbortController();
    const given = Array.from({ length: MAX_REQUESTS_IN_FLIGHT }, () => environment.info(abort.signal));
    const requests: ReceivedRequest[] = [];
    for (const _ of given) requests.push(await connection.take("environment/info"));
    abort.abort(new Error("no longer wanted"));
    for (const one of given) await expect(one).rejects.toThrow("no longer wanted");
    let isSent = false;
    const next = environment.status();
    const taking = connection.take("environment/status").then((request) => {
      isSent = true;
      return request;
    });
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(isSent).toBe(false);
    await connection.respond(requests[0]!, {});
    await connection.respond(await taking, { status: "ready" });
    await next;
  });
});
