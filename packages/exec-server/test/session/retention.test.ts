import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOutputLog } from "@codex/exec-backend";
import { describe, expect, it, onTestFinished } from "vitest";
import { MIN_RETAINED_BYTES } from "../../src/limits.js";
import { Retention } from "../../src/session/retention.js";
import { paramsOf, useServer } from "../support.js";

const MIB = 1024 * 1024;
const print = (bytes: number) => ["head", "-c", String(bytes), "/dev/zero"];

describe("what is kept of output", () => {
  const retention = new Retention({ perSession: 3 * MIB, total: 4 * MIB, checkInterval: MIB });
  const server = useServer({ sessions: { retention } });

  it("is bounded for all processes of a session together, and of all sessions", async () => {
    const [first, second] = [await server.ready(), await server.ready()];
    for (const client of [first, second]) {
      for (let index = 0; index < 8; index += 1) {
        await client.start(`p${index}`, print(MIB));
        await client.untilEvent("process/closed", `p${index}`);
        expect(client.outputOf(`p${index}`).length).toBe(MIB);
      }
    }
    const known = async (client: typeof first) =>
      (await client.ask<{ processes: object[] }>("process/list")).processes.length;
    expect(await known(second)).toBeLessThanOrEqual(4);
    expect((await known(first)) + (await known(second))).toBeLessThanOrEqual(5);
    expect(await known(second)).toBeGreaterThan(0);
    // Ids of those that were forgotten are not free.
    expect(
      await second.refusal("process/start", { processId: "p0", argv: ["true"], cwd: "file:///", env: {}, tty: false }),
    ).toContain("already exists");
  });

  it("gets less for processes that run on, and never what was not handed to a client", async () => {
    const directory = mkdtempSync(join(tmpdir(), "codex-retention-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const go = join(directory, "go");
    const client = await server.connect();
    const sessionId = await client.handshake();
    const script = `head -c ${2 * MIB} /dev/zero; until [ -e '${go}' ]; do sleep 0.02; done; head -c ${2 * MIB} /dev/zero`;
    for (const id of ["a", "b", "c", "d"]) await client.start(id, ["sh", "-c", script]);
    for (const id of ["a", "b", "c", "d"]) await client.until(() => client.outputOf(id).length === 2 * MIB);
    const early = await client.ask<{ truncatedBefore?: number }>("process/read", { processId: "a", afterSeq: 0 });
    expect(early.truncatedBefore).toBeGreaterThan(1);
    await client.close();
    await client.served;
    // It goes on without a client: held back before anything is lost.
    writeFileSync(go, "");
    const again = await server.connect();
    await again.handshake(sessionId);
    const pieces = new Map<number, Buffer>();
    for (let afterSeq = Number(paramsOf(client.eventsOf("a").at(-1)!).seq); ; ) {
      const news = await again.ask<{ chunks: { seq: number; chunk: string }[]; closed: boolean }>("process/read", {
        processId: "a",
        afterSeq,
        waitMs: 60_000,
      });
      for (const { seq, chunk } of news.chunks) {
        pieces.set(seq, Buffer.from(chunk, "base64"));
        afterSeq = seq;
      }
      if (news.closed) break;
      if (news.chunks.length === 0) afterSeq += 1; // the exit
    }
    await again.untilEvent("process/closed", "a");
    // What was pushed meanwhile was handed over, and need not be there to be read.
    for (const { method, ...event } of again.eventsOf("a")) {
      const { seq, chunk } = paramsOf({ method, ...event }) as { seq: number; chunk: string };
      if (method === "process/output") pieces.set(seq, Buffer.from(chunk, "base64"));
    }
    const more = [...pieces.values()].reduce((sum, { length }) => sum + length, 0);
    expect(client.outputOf("a").length + more).toBe(4 * MIB);
  });
});

describe("a log that is to keep less", () => {
  it("holds the process back earlier, and keeps what is followed", () => {
    let paused = false;
    const log = createOutputLog({ headBytes: 0, tailBytes: 8 * MIB, spillBytes: 0, spillDir: "/nowhere" }, (pause) => {
      paused = pause;
    });
    const chunk = () => log.append("stdout", Buffer.alloc(64 * 1024));
    for (let index = 0; index < 64; index += 1) chunk();
    const hold = log.hold(3 * MIB, MIB);
    log.shrink?.(MIN_RETAINED_BYTES);
    expect(log.getEvicted(3 * MIB)).toEqual([]);
    expect(log.getEvicted(0)).toEqual([{ from: 0, to: 3 * MIB }]);
    expect(paused).toBe(true);
    hold.move(4 * MIB);
    expect(paused).toBe(false);
    while (!paused) chunk();
    chunk();
    expect(log.getEvicted(4 * MIB)).toEqual([]);
    expect(log.heldBytes).toBeLessThanOrEqual(MIB);
    hold.release();
    log.finish();
  });
});
