import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { describe, expect, it } from "vitest";
import { MAX_UNSENT_BYTES } from "../../../native/src/limits.js";
import { type Message, paramsOf, RawClient, startParams, useServer } from "../support.js";

interface Chunk {
  seq: number;
  chunk: string;
}

const NOTHING = Buffer.alloc(0);

/** Bytes that the kernel holds of the connections that a port has accepted, and that have not arrived. */
async function unsentOf(port: number): Promise<number> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = (await readFile("/proc/net/tcp", "latin1")).split("\n").map((line) => line.trim().split(/\s+/));
  const queues = lines.filter(([, own]) => own?.endsWith(local)).map(([, , , , queue]) => queue!.split(":")[0]!);
  return queues.reduce((sum, hex) => sum + Number.parseInt(hex, 16), 0);
}

/** Bytes that differ everywhere: the decimal numbers from 1 on, one each line. */
const numbers = (count: number): string[] => ["seq", "1", String(count)];

describe("much output", () => {
  const server = useServer();

  it("has no gap in its numbers when the exit falls into a burst", async () => {
    const client = await server.ready();
    for (let round = 0; round < 10; round += 1) {
      const id = `p${round}`;
      const tty = round % 2 === 1;
      // What a terminal's session leaves behind is hung up on.
      const script = tty ? "head -c 600000 /dev/zero" : "head -c 300000 /dev/zero & head -c 300000 /dev/zero";
      await client.start(id, ["sh", "-c", `${script}; exit 3`], { tty });
    }
    for (let round = 0; round < 10; round += 1) {
      const id = `p${round}`;
      await client.untilEvent("process/closed", id);
      const events = client.eventsOf(id);
      expect(events.map((event) => paramsOf(event).seq)).toEqual(events.map((_, index) => index + 1));
      expect(client.outputOf(id).length).toBe(600_000);
    }
  });

  it.skipIf(process.platform !== "linux")(
    "waits with the server, not in the kernel, where an answer would wait too",
    async () => {
      const { url, dial } = await server.listen();
      const port = Number(new URL(url).port);
      const silent = new RawClient(await connectWebSocketChannel(url), { read: false });
      server.defer(() => silent.channel.close({ deadlineMs: 0 }));
      silent.send({ id: 1, method: "initialize", params: { clientName: "test" } });
      silent.send({ method: "initialized", params: {} });
      silent.send({ id: 2, method: "process/start", params: startParams("p", ["yes"]) });
      const other = await dial();
      await other.handshake();
      const lookedAt: number[] = [];
      while (lookedAt.length < 20 || lookedAt.slice(-20).some((bytes) => bytes === 0 || bytes !== lookedAt.at(-1))) {
        for (let turn = 0; turn < 20; turn += 1) await other.ask("environment/info");
        lookedAt.push(await unsentOf(port));
      }
      // Beyond it lies what was begun when it was reached, a packet of the loopback.
      expect(lookedAt.at(-1)).toBeLessThanOrEqual(3 * MAX_UNSENT_BYTES);
    },
  );

  it("of 20 MB comes once and whole over a connection that is cut again and again", async () => {
    const { dial, relay } = await server.listen();
    const count = 2_700_000;
    let client = await dial();
    const sessionId = await client.handshake();
    await client.start("p", numbers(count));
    const chunks = new Map<number, Buffer>();
    let expected = 1;
    let closedSeq: number | undefined;
    const take = (seq: number, bytes: Buffer) => {
      chunks.set(seq, bytes);
      while (chunks.has(expected)) expected += 1;
    };
    const takeEvent = ({ method, params }: Message) => {
      const { seq, chunk } = (params ?? {}) as { seq: number; chunk: string };
      if (method === "process/output") take(seq, Buffer.from(chunk, "base64"));
      if (method === "process/exited") take(seq, Buffer.alloc(0));
      if (method === "process/closed") closedSeq = seq;
    };
    for (let cuts = 0; closedSeq === undefined; cuts += 1) {
      const enough = chunks.size + 60;
      await client.until((message) => {
        takeEvent(message);
        return closedSeq !== undefined || (cuts < 4 && chunks.size > enough);
      });
      if (closedSeq !== undefined) break;
      relay.cut();
      await client.finished;
      client = await dial();
      await client.handshake(sessionId);
      const answer = await client.ask<{ chunks: Chunk[]; nextSeq: number; closed: boolean }>("process/read", {
        processId: "p",
        afterSeq: expected - 1,
        maxBytes: null,
        waitMs: 0,
      });
      for (const { seq, chunk } of answer.chunks) take(seq, Buffer.from(chunk, "base64"));
      if (answer.closed) closedSeq = answer.nextSeq - 1;
    }
    expect(relay.cuts).toBeGreaterThan(1);
    const all = Buffer.concat(Array.from({ length: closedSeq! - 1 }, (_, index) => chunks.get(index + 1) ?? NOTHING));
    const wanted = Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");
    expect(all.length).toBe(wanted.length);
    expect(hash(all)).toBe(hash(wanted));
  });

  it("to a client that does not read holds the process back, and nobody else", async () => {
    const { dial } = await server.listen();
    const first = await dial();
    const sessionId = await first.handshake();
    await first.start("ended", ["head", "-c", String(8 * 1024 * 1024), "/dev/zero"]);
    await first.untilEvent("process/closed", "ended");
    await first.close();
    const directory = await mkdtemp(join(tmpdir(), "exec-server-flow-"));
    server.defer(() => rm(directory, { recursive: true }));
    const file = join(directory, "file");
    await writeFile(file, Buffer.alloc(8 * 1024 * 1024));
    const before = process.memoryUsage();
    const stalled = await dial({ read: false });
    stalled.send({ id: 1, method: "initialize", params: { clientName: "x", resumeSessionId: sessionId } });
    stalled.send({ method: "initialized" });
    stalled.send({ id: 2, method: "process/start", params: startParams("endless", ["yes"]) });
    // Asks for 1600 MiB in all.
    for (let id = 3; id < 203; id += 2) {
      stalled.send({ id, method: "process/read", params: { processId: "ended" } });
      stalled.send({ id: id + 1, method: "fs/readFile", params: { path: `file://${file}` } });
    }
    const other = await dial();
    await other.handshake();
    for (let round = 0; round < 30; round += 1) {
      await other.start(`p${round}`, numbers(20_000));
      await other.untilEvent("process/closed", `p${round}`);
      expect(other.outputOf(`p${round}`).length).toBe(108_894);
    }
    const { rss } = process.memoryUsage();
    expect(rss - before.rss).toBeLessThan(500 * 1024 * 1024);
  });
});

const hash = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe("many requests at once", () => {
  const server = useServer();

  it("are answered, each of a thousand", async () => {
    const { dial } = await server.listen();
    const client = await dial();
    await client.handshake();
    const ids = Array.from({ length: 100 }, (_, index) => `p${index}`);
    const answers = ids.flatMap((id) => [
      client.request("process/start", startParams(id, ["/bin/true"])),
      client.request("fs/getMetadata", { path: "file:///tmp" }),
      client.request("process/read", { processId: id, waitMs: 600_000 }),
      client.request("environment/status"),
      client.request("process/list"),
      ...Array.from({ length: 5 }, () => client.request("environment/info")),
    ]);
    for (const { error } of await Promise.all(answers)) expect(error).toBeUndefined();
    for (const id of ids) await client.untilEvent("process/closed", id);
  });

  it("do not keep those of another connection waiting", async () => {
    const { dial } = await server.listen();
    const [busy, other] = [await dial(), await dial()];
    await busy.handshake();
    await other.handshake();
    await other.ask("environment/status");
    let answered = 0;
    const starts = Array.from({ length: 150 }, (_, index) =>
      busy.start(`p${index}`, ["/bin/true"]).then(() => {
        answered += 1;
      }),
    );
    await other.ask("environment/status");
    expect(answered).toBeLessThan(75);
    await Promise.all(starts);
  });

  it("to end a program are answered when it was killed, and what left its group goes as well", async () => {
    const { dial } = await server.listen();
    const client = await dial();
    await client.handshake();
    const script = "setsid sh -c 'echo ready; exec sleep 1000' & exec sleep 1000";
    await client.start("p", ["sh", "-c", script]);
    await client.untilEvent("process/output", "p");
    expect(await client.ask("process/terminate", { processId: "p" })).toEqual({ running: true });
    await client.untilEvent("process/closed", "p"); // the one that left its group held the output too
    const order = client.received.filter(({ method, result }) => result !== undefined || method === "process/exited");
    expect(order.slice(-2)).toMatchObject([{ result: { running: true } }, { method: "process/exited" }]);
    expect(await client.ask("process/terminate", { processId: "p" })).toEqual({ running: false });
  });

  it("wait for nothing but themselves", async () => {
    const { dial } = await server.listen();
    const client = await dial();
    await client.handshake();
    await client.start("silent", ["sleep", "600"], { pipeStdin: true });
    const waiting = [
      // Nobody writes, and nobody reads.
      client.request("process/read", { processId: "silent", waitMs: 600_000 }),
      client.request("process/write", {
        processId: "silent",
        chunk: Buffer.alloc(8 * 1024 * 1024).toString("base64"),
        writeId: "1",
      }),
    ];
    for (const each of waiting) each.catch(() => {});
    expect(await client.ask("environment/status")).toEqual({ status: "ready" });
    expect(await client.ask("fs/getMetadata", { path: "file:///tmp" })).toMatchObject({ isDirectory: true });
    await client.start("p", ["echo", "hi"]);
    await client.untilEvent("process/closed", "p");
    expect(await client.ask("process/terminate", { processId: "silent" })).toEqual({ running: true });
    const [read, write] = await Promise.all(waiting);
    expect(read).toMatchObject({ result: { exited: true, exitCode: 137 } });
    expect(write).toMatchObject({ result: { status: "stdinClosed" } });
  });
});
