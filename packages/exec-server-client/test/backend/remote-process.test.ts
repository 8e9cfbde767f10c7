import { describe, expect, it } from "vitest";
import { ENV, joinBytes } from "../../../process-host/test/support.js";
import { createRemoteBackend } from "../../src/backend/remote-backend.js";
import type { RemoteProcess } from "../../src/backend/remote-process.js";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { MAX_START_HOLD_MS, MAX_UNDELIVERED_BYTES } from "../../src/limits.js";
import { ScriptedClock, ScriptedServer, useClients } from "../scripted-server.js";

describe("a remote process", () => {
  const own = useClients();

  async function connect() {
    const server = new ScriptedServer();
    const clock = new ScriptedClock();
    const connecting = own(ExecServerClient.connect(server, { clock }), clock);
    const connection = await server.accept();
    await connection.shakeHands("session");
    const backend = createRemoteBackend(await connecting, { newId: () => "p" });
    const start = async (stdin: "null" | "open" = "null"): Promise<RemoteProcess> => {
      const starting = backend.start({ argv: ["sh"], cwd: "/a b", env: ENV, stdio: { kind: "pipe", stdin } });
      await connection.start();
      return starting;
    };
    return { server, clock, connection, backend, start };
  }

  const textOf = async (process: RemoteProcess) => joinBytes((await process.log.read(0)).chunks).toString();

  it("is asked for as the protocol says", async () => {
    const { connection, backend } = await connect();
    const starting = backend.start({
      argv: ["sh", "-c", "x"],
      arg0: "name",
      cwd: "/a b",
      env: ENV,
      stdio: { kind: "pipe", stdin: "open" },
    });
    const request = await connection.take("process/start");
    expect(request.params).toEqual({
      processId: "p",
      argv: ["sh", "-c", "x"],
      arg0: "name",
      cwd: "file:///a%20b",
      env: ENV,
      envPolicy: null,
      sandbox: null,
      tty: false,
      pipeStdin: true,
    });
    await connection.respond(request, { processId: "p" });
    await starting;
  });

  it("gets the ids of the call as metadata, where a server takes them", async () => {
    const stdio = { kind: "pipe", stdin: "null" } as const;
    const ids = { CODEX_THREAD_ID: "019f8a94-3df8-7351-ad7a-e2aa42eea02c", CODEX_TOOL_CALL_ID: "call_1" };
    for (const [env, metadata] of [
      [ids, { threadId: ids.CODEX_THREAD_ID, toolCallId: "call_1" }],
      [{ ...ids, CODEX_THREAD_ID: "mine" }, { toolCallId: "call_1" }],
    ] as const) {
      const { connection, backend } = await connect();
      const starting = backend.start({ argv: ["sh"], cwd: "/", env, stdio });
      const request = await connection.take("process/start");
      expect(request.params).toMatchObject({ env, metadata });
      await connection.respond(request, { processId: "p" });
      await starting;
    }
  });

  it("delivers all output that arrived with the answer to a follower, even if it is more than the log retains", async () => {
    const { connection, backend } = await connect();
    const log = { headBytes: 0, tailBytes: 64 * 1024, spillBytes: 0 };
    const stdio = { kind: "pipe", stdin: "null" } as const;
    const pieces = Array.from({ length: 6 }, (_, i) => String(i).repeat(32 * 1024));
    // Several rounds: in the first ones, before the code is compiled, the caller may follow early enough for nothing to be lost.
    for (let round = 0; round < 10; round += 1) {
      const starting = backend.start({ argv: ["sh"], cwd: "/", env: ENV, stdio, log });
      const request = await connection.take("process/start");
      const sent = [
        connection.respond(request, { processId: "p" }),
        ...pieces.map((piece, i) => connection.output("p", i + 1, piece)),
        connection.exited("p", pieces.length + 1, 0),
        connection.closed("p", pieces.length + 2),
      ];
      const process = await starting;
      const received: Uint8Array[] = [];
      for await (const { bytes } of process.log.follow({ windowBytes: 32 * 1024 })) received.push(Buffer.from(bytes));
      await Promise.all(sent);
      expect(Buffer.concat(received).toString() === pieces.join("")).toBe(true);
      expect(await process.exited).toEqual({ kind: "exited", code: 0 });
    }
  });

  it("is started where more output than may be held back precedes the answer", async () => {
    const { clock, connection, backend } = await connect();
    const starting = backend.start({ argv: ["sh"], cwd: "/", env: ENV, stdio: { kind: "pipe", stdin: "null" } });
    const request = await connection.take("process/start");
    const pieces = (2 * MAX_UNDELIVERED_BYTES) / PIECE.length;
    let sent = 0;
    const sending = (async () => {
      for (let seq = 1; seq <= pieces; seq += 1) {
        await connection.output("p", seq, PIECE);
        sent = seq;
      }
      await connection.respond(request, { processId: "p" });
    })();
    await untilQuiet(() => sent);
    expect(sent).toBeLessThan(pieces);
    clock.pass(MAX_START_HOLD_MS);
    const process = await starting;
    await sending;
    expect(process.log.end).toBe(2 * MAX_UNDELIVERED_BYTES);
  });

  it("is lost with its session, and keeps what it wrote", async () => {
    const { server, connection, start } = await connect();
    const process = await start();
    await connection.output("p", 1, "seen");
    await process.log.waitFor(0);
    await connection.cut();
    const second = await server.accept();
    await second.refuse(await second.take("initialize"), -32600, "unknown session id session");
    await process.closed;
    expect(await process.exited).toEqual({
      kind: "lost",
      reason: "the session with the exec-server was not resumed: unknown session id session",
      lastSeq: 1,
    });
    expect(process.missing).toEqual([{ offset: 4, chunks: undefined }]);
    expect(await textOf(process)).toBe("seen");
    expect(await process.terminate()).toMatchObject({ running: false, gone: false, outcome: { kind: "lost" } });
    expect(await process.signal("SIGTERM")).toBe(false);
  });

  it("keeps an exit that was reported before the session was lost", async () => {
    const { server, connection, start } = await connect();
    const process = await start();
    await connection.exited("p", 1, 4);
    await process.exited;
    await connection.cut();
    const second = await server.accept();
    await second.refuse(await second.take("initialize"), -32600, "unknown session id session");
    await process.closed;
    expect(process.outcome).toEqual({ kind: "exited", code: 4 });
    expect(process.missing).toEqual([{ offset: 0, chunks: undefined }]);
  });

  it.each([
    { server: "that counts bytes", more: { bytesBefore: 10 }, bytes: 7, estimated: {} },
    { server: "that does not: as chunks of the usual size", more: {}, bytes: 3 * 3, estimated: { estimated: true } },
  ])("says where output is missing, on a server $server", async ({ more, bytes, estimated }) => {
    const { server, connection, start } = await connect();
    const process = await start();
    await connection.output("p", 1, "abc");
    await process.log.waitFor(0);
    await connection.cut();
    const second = await server.accept();
    await second.shakeHands("session");
    await second.read([[5, "xyz"]], { nextSeq: 8, exited: true, exitCode: 0, closed: true, ...more });
    await process.closed;
    expect(process.missing).toEqual([{ offset: 3, chunks: 3, bytes }]);
    expect(process.log.getEvicted(0)).toEqual([{ from: 3, to: 3 + bytes, ...estimated }]);
    expect(process.log.skipped).toMatchObject({ bytes, reason: expect.stringContaining("evicted it") });
    expect(process.log.end).toBe(6 + bytes);
    expect(await textOf(process)).toBe("abcxyz");
  });

  it("has been ended by a signal only where the server reports one", async () => {
    const { connection, start } = await connect();
    const outcome = { kind: "signaled", signal: "SIGKILL", by: "terminate" };
    const process = await start();
    await connection.notify("process/exited", { processId: "p", seq: 1, exitCode: 137, outcome });
    expect(await process.exited).toEqual(outcome);
    await connection.closed("p", 2);
    await process.closed;
    const untold = await start();
    await connection.notify("process/exited", { processId: "p", seq: 1, exitCode: 137, outcome: "killed" });
    expect(await untold.exited).toEqual({ kind: "exited", code: 137 });
    await connection.closed("p", 2);
    await untold.closed;
  });

  it("fails a write with the bytes that were taken", async () => {
    const { connection, start } = await connect();
    const process = await start("open");
    const writing = process.write(Buffer.alloc(2_600_000));
    for (const status of ["accepted", "accepted", "stdinClosed"]) {
      await connection.respond(await connection.take("process/write"), { status });
    }
    await expect(writing).rejects.toMatchObject({ name: "WriteError", code: "stdin_closed", written: 2_097_152 });
  });

  it("does not know what became of a write and a signal whose answers are lost with the session", async () => {
    const { server, connection, start } = await connect();
    const process = await start("open");
    const unknown = [
      expect(process.write(Buffer.from("typed"))).rejects.toMatchObject({ code: "unknown", written: 0 }),
    ];
    await connection.take("process/write");
    unknown.push(expect(process.signal("SIGINT")).rejects.toMatchObject({ code: "unknown" }));
    await connection.take("process/signal");
    await connection.cut();
    const second = await server.accept();
    await second.refuse(await second.take("initialize"), -32600, "unknown session id session");
    await Promise.all(unknown);
  });

  it("asks once for what the server does not have", async () => {
    const { connection, start } = await connect();
    const process = await start("open");
    const first = process.closeStdin();
    const request = await connection.take("process/closeStdin");
    await connection.refuse(request, -32601, "exec-server stub does not implement `process/closeStdin` yet");
    await expect(first).rejects.toMatchObject({ name: "ProcessError", code: "unsupported" });
    await expect(process.closeStdin()).rejects.toMatchObject({ code: "unsupported" });
    const signal = process.signal("SIGTERM");
    const signalled = await connection.take("process/signal");
    await connection.refuse(signalled, -32602, "unknown variant `terminate`, expected `interrupt`");
    await expect(signal).rejects.toMatchObject({ code: "unsupported" });
  });

  it("is terminated as the server tells it", async () => {
    const { connection, start } = await connect();
    const process = await start();
    const terminating = process.terminate({ graceMs: 100 });
    const request = await connection.take("process/terminate");
    expect(request.params).toEqual({ processId: "p", graceMs: 100 });
    await connection.respond(request, { running: true });
    await connection.exited("p", 1, 137);
    expect(await terminating).toEqual({
      running: true,
      members: undefined,
      signals: ["SIGKILL"],
      gone: true,
      outcome: { kind: "exited", code: 137 },
    });
  });

  it("that had ended before is terminated with the outcome that is reported late", async () => {
    const { connection, start } = await connect();
    const process = await start();
    const terminating = process.terminate();
    let exits = 0;
    void terminating.then(() => {
      exits = 1;
    });
    await connection.respond(await connection.take("process/terminate"), { running: false, signals: [], gone: true });
    await untilQuiet(() => exits);
    expect(exits).toBe(0);
    await connection.exited("p", 1, 4);
    expect(await terminating).toMatchObject({ running: false, gone: true, outcome: { kind: "exited", code: 4 } });
  });

  it("is held back by a follower while others go on, and its end is waited for no longer than a second", async () => {
    const { clock, connection, start } = await connect();
    const process = await start();
    const hold = process.log.hold(0, 10);
    await connection.output("p", 1, "more than ten bytes");
    await connection.output("p", 2, "held back");
    await connection.exited("p", 3, 0);
    await connection.closed("p", 4);
    const request = process.terminate();
    await connection.respond(await connection.take("process/terminate"), { running: false });
    await expect.poll(() => clock.timers.at(-1)).toBe(1_000);
    clock.pass(1_000);
    expect(await request).toMatchObject({ running: false, gone: false, outcome: { kind: "running" } });
    expect(await textOf(process)).toBe("more than ten bytes");
    hold.release();
    await process.closed;
    expect(await textOf(process)).toBe("more than ten bytesheld back");
  });

  it("stops the connection from being read when too much waits for a follower", async () => {
    const { connection, start } = await connect();
    const process = await start();
    const hold = process.log.hold(0, 10);
    const pieces = (2 * MAX_UNDELIVERED_BYTES) / PIECE.length;
    let sent = 0;
    const sending = (async () => {
      for (let seq = 1; seq <= pieces; seq += 1) {
        await connection.output("p", seq, PIECE);
        sent = seq;
      }
    })();
    await untilQuiet(() => sent);
    expect(sent).toBeLessThan(pieces);
    expect(process.log.lastSeq).toBe(1);
    hold.release();
    await sending;
    await connection.exited("p", pieces + 1, 0);
    await connection.closed("p", pieces + 2);
    await process.closed;
    expect(process.log.end).toBe(2 * MAX_UNDELIVERED_BYTES);
  });
});

const PIECE = "x".repeat(1024 * 1024);

/** Resolves when a count has not changed for many turns of the event loop: nothing but the test moves it then. */
async function untilQuiet(count: () => number): Promise<void> {
  for (let turns = 0, last = count(); turns < 200; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (count() !== last) turns = 0;
    last = count();
  }
}
