import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Message, paramsOf, type RawClient, startParams, useServer } from "./support.js";

/** Bytes that differ everywhere: the decimal numbers from 1 on, one each line. */
const numbers = (count: number): string[] => ["seq", "1", String(count)];

describe("much output", () => {
  const server = useServer();

  it("has no gap in its numbers when the exit falls into a burst", async () => {
    const client = await server.ready();
    for (let round = 0; round < 10; round += 1) {
      const id = `p${round}`;
      await client.start(id, ["sh", "-c", "head -c 300000 /dev/zero & head -c 300000 /dev/zero; exit 3"], {
        tty: round % 2 === 1,
      });
    }
    for (let round = 0; round < 10; round += 1) {
      const id = `p${round}`;
      await client.untilEvent("process/closed", id);
      const events = client.eventsOf(id);
      expect(events.map((event) => paramsOf(event).seq)).toEqual(events.map((_, index) => index + 1));
      expect(client.outputOf(id).length).toBe(600_000);
    }
  });

  it("of 20 MB comes once and whole over a connection that is cut again and again", async () => {
    const { dial, relay } = await server.listen();
    const count = 2_700_000;
    let client = await dial();
    const sessionId = await client.handshake();
    await client.start("p", numbers(count));
    const chunks = new Map<number, Buffer>();
    let last: Message | undefined;
    const take = (seq: number, chunk: string) => {
      chunks.set(seq, Buffer.from(chunk, "base64"));
    };
    let expected = 1;
    const collect = (from: RawClient, at: number) => {
      let next = at;
      for (; next < from.received.length; next += 1) {
        const { method, params } = from.received[next] as { method?: string; params: Message };
        if (method === "process/output") take(params.seq as number, params.chunk as string);
        if (method === "process/exited") chunks.set(params.seq as number, Buffer.alloc(0));
        if (method === "process/closed") last = params;
      }
      while (chunks.has(expected)) expected += 1;
      return next;
    };
    for (let cuts = 0; last === undefined; cuts += 1) {
      let at = 0;
      const enough = chunks.size + 60;
      await client.until(() => {
        at = collect(client, at);
        return last !== undefined || (cuts < 4 && chunks.size > enough);
      });
      if (last !== undefined) break;
      relay.cut();
      await client.finished;
      collect(client, at);
      client = await dial();
      await client.handshake(sessionId);
      for (let more = true; more; ) {
        const answer = await client.ask<{ chunks: { seq: number; chunk: string }[]; nextSeq: number }>("process/read", {
          processId: "p",
          afterSeq: expected - 1,
          maxBytes: null,
          waitMs: 0,
        });
        for (const { seq, chunk } of answer.chunks) if (!chunks.has(seq)) take(seq, chunk);
        collect(client, 0);
        more = answer.chunks.length > 0 && expected < answer.nextSeq;
      }
    }
    collect(client, 0);
    const all = Buffer.concat(Array.from({ length: (last!.seq as number) - 1 }, (_, index) => chunks.get(index + 1)!));
    const wanted = Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");
    expect(all.length).toBe(wanted.length);
    expect(hash(all)).toBe(hash(wanted));
  });

  it("to a client that does not read holds the process back, and nobody else", async () => {
    const { dial } = await server.listen();
    const stalled = await dial({ read: false });
    stalled.send({ id: 1, method: "initialize", params: { clientName: "x" } });
    stalled.send({ method: "initialized" });
    stalled.send({ id: 2, method: "process/start", params: startParams("endless", ["yes"]) });
    // Asks for much, too: each answer would be of 8 MiB.
    for (let id = 3; id < 200; id += 1) {
      stalled.send({ id, method: "process/read", params: { processId: "endless", waitMs: 1000 } });
    }
    const other = await dial();
    await other.handshake();
    const before = process.memoryUsage();
    for (let round = 0; round < 30; round += 1) {
      await other.start(`p${round}`, numbers(20_000));
      await other.untilEvent("process/closed", `p${round}`);
      expect(other.outputOf(`p${round}`).length).toBe(108_894);
    }
    const { rss } = process.memoryUsage();
    expect(rss - before.rss).toBeLessThan(200 * 1024 * 1024);
  });
});

const hash = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe("many requests at once", () => {
  const server = useServer();

  it("of 1000 starts each is answered, and each process is told to the end", async () => {
    const { dial } = await server.listen();
    const client = await dial();
    await client.handshake();
    const ids = Array.from({ length: 1000 }, (_, index) => `p${index}`);
    const answers = ids.map((id) => client.request("process/start", startParams(id, ["/bin/true"])));
    for (const { error } of await Promise.all(answers)) expect(error).toBeUndefined();
    for (const id of ids) await client.untilEvent("process/closed", id);
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
