import { describe, expect, it } from "vitest";
import { isAlive, untilGone } from "../../../process-host/test/support.js";
import { MAX_EVICTED_IDS } from "../../src/limits.js";
import { EvictedIds } from "../../src/session/evicted-ids.js";
import { paramsOf, startParams, useServer } from "../support.js";

describe("sessions", () => {
  const server = useServer();

  it("go on without their connection, and tell what was missed when asked", async () => {
    const { dial, relay } = await server.listen();
    const first = await dial();
    const sessionId = await first.handshake();
    await first.start("p", ["sh", "-c", "echo one; read x; echo two; read x; echo three; exit 5"], { pipeStdin: true });
    await first.untilEvent("process/output", "p");
    const unanswered = first.request("process/read", { processId: "p", afterSeq: 1, waitMs: 600_000 });
    unanswered.catch(() => {});
    relay.cut();
    await first.finished;

    const second = await dial();
    expect(await second.handshake(sessionId)).toBe(sessionId);
    const write = { processId: "p", chunk: "Cg==", writeId: "w1" };
    expect(await second.ask("process/write", write)).toEqual({ status: "accepted" });
    await second.untilEvent("process/output", "p");
    relay.cut();
    await second.finished;

    const third = await dial();
    await third.handshake(sessionId);
    expect(third.eventsOf("p")).toEqual([]);
    // The answer was lost, as far as the client knows: nothing is written again.
    expect(await third.ask("process/write", write)).toEqual({ status: "accepted" });
    const missed = await third.ask("process/read", { processId: "p", afterSeq: 1, maxBytes: null, waitMs: 0 });
    expect(missed).toMatchObject({ chunks: [{ seq: 2, chunk: "dHdvCg==" }], nextSeq: 3, exited: false });
    await third.ask("process/write", { ...write, writeId: "w2" });
    await third.untilEvent("process/closed", "p");
    const seqs = third.eventsOf("p").map((message) => paramsOf(message).seq as number);
    expect(seqs.sort()).toEqual([3, 4, 5]);
    expect(await third.refusal("process/start", startParams("p", ["true"]))).toContain("already exists");
  });

  it("are free as soon as their connection is gone", async () => {
    const first = await server.connect();
    const sessionId = await first.handshake();
    await first.start("p", ["cat"], { pipeStdin: true });
    // Neither a wait nor a write that nobody takes delays it.
    void first.request("process/read", { processId: "p", waitMs: 600_000 }).catch(() => {});
    const second = await server.connect();
    const busy = await second.refusal("initialize", { clientName: "x", resumeSessionId: sessionId });
    expect(busy).toBe(`-32010 session ${sessionId} is already attached to another connection`);
    await first.close();
    await first.served;
    expect(await second.handshake(sessionId)).toBe(sessionId);
    await first.close();
    expect(await second.ask("process/list")).toMatchObject({ processes: [{ processId: "p", running: true }] });
  });

  it("give the events of a start to the connection that is there when it is answered", async () => {
    const first = await server.connect();
    const sessionId = await first.handshake();
    void first.request("process/start", startParams("p", ["echo", "hi"])).catch(() => {});
    await first.close();
    await first.served;
    const second = await server.connect();
    await second.handshake(sessionId);
    // Whether or not it was started when the connection was lost: the client can find out, and no event is sent twice.
    const { processes } = await second.ask<{ processes: { processId: string }[] }>("process/list");
    for (const { processId } of processes) {
      let afterSeq = 0;
      for (let closed = false; !closed; ) {
        const news = await second.ask<{ closed: boolean; nextSeq: number }>("process/read", {
          processId,
          afterSeq,
          waitMs: 600_000,
        });
        closed = news.closed;
        afterSeq = news.nextSeq - 1;
      }
      const seqs = second.eventsOf(processId).map((message) => paramsOf(message).seq);
      expect(new Set(seqs).size).toBe(seqs.length);
    }
  });
});

describe("a peer that is half gone", () => {
  const server = useServer();

  it("loses its session to the one who comes back", async () => {
    const { dial, relay } = await server.listen();
    const first = await dial();
    const sessionId = await first.handshake();
    await first.start("p", ["sh", "-c", "read x; echo got it"], { pipeStdin: true });
    relay.loseClient();
    await first.finished;
    const second = await dial();
    await second.handshake(sessionId);
    await second.ask("process/write", { processId: "p", chunk: "Cg==", writeId: "1" });
    await second.untilEvent("process/closed", "p");
    expect(second.outputOf("p")).toBe("got it\n");
  });
});

describe("a session that nobody comes back to", () => {
  const server = useServer({ sessions: { detachedMs: 50 } });

  it("ends with its processes", async () => {
    const first = await server.connect();
    const sessionId = await first.handshake();
    await first.start("p", ["sleep", "60"]);
    const { processes } = await first.ask<{ processes: { pid: number }[] }>("process/list");
    const pid = processes[0]!.pid;
    await first.close();
    await first.served;
    expect(await untilGone(pid)).toBe(true);
    const second = await server.connect();
    expect(await second.refusal("initialize", { clientName: "x", resumeSessionId: sessionId })).toBe(
      `-32600 unknown session id ${sessionId}`,
    );
  });
});

describe("a session with processes that nobody comes back to", () => {
  const server = useServer({ sessions: { detachedMs: 600_000, busyDetachedMs: 50 } });

  it("is kept for a time of its own", async () => {
    const empty = await server.connect();
    const kept = await empty.handshake();
    const busy = await server.connect();
    const sessionId = await busy.handshake();
    await busy.start("p", ["sleep", "60"]);
    const { processes } = await busy.ask<{ processes: { pid: number }[] }>("process/list");
    for (const each of [empty, busy]) {
      await each.close();
      await each.served;
    }
    expect(await untilGone(processes[0]!.pid)).toBe(true);
    const next = await server.connect();
    const refused = await next.refusal("initialize", { clientName: "x", resumeSessionId: sessionId });
    expect(refused).toBe(`-32600 unknown session id ${sessionId}`);
    expect(await next.handshake(kept)).toBe(kept);
  });
});

describe("a server whose places for sessions are all taken", () => {
  let now = 0;
  const server = useServer({ sessions: { maxSessions: 4, now: () => now } });

  async function leave(argv?: string[]): Promise<string> {
    const client = await server.connect();
    const sessionId = await client.handshake();
    if (argv !== undefined) await client.start("p", argv);
    if (argv?.[0] === "true") await client.untilEvent("process/closed", "p");
    await client.close();
    await client.served;
    return sessionId;
  }
  const resume = async (sessionId: string) => (await server.connect()).handshake(sessionId);

  it("gives those that have nothing to lose to whoever comes, and never those with programs", async () => {
    const working = await leave(["sleep", "60"]);
    const idle = await server.connect();
    const idleId = await idle.handshake();
    now += 1; // it stays longer than those that only look in
    await idle.close();
    await idle.served;
    const told = await leave(["true"]);
    for (let count = 0; count < 20; count += 1) await leave();
    expect([await resume(working), await resume(idleId), await resume(told)]).toEqual([working, idleId, told]);
  });

  it("takes those whose processes are over next, and refuses one more than all that are in use", async () => {
    const working = [await leave(["sleep", "60"]), await leave(["sleep", "60"]), await leave(["sleep", "60"])];
    const told = await leave(["true"]);
    const last = await server.connect();
    await last.handshake();
    const refused = await server.connect();
    expect(await refused.refusal("initialize", { clientName: "x" })).toBe("-32600 the limit of 4 sessions is reached");
    expect(await refused.refusal("initialize", { clientName: "x", resumeSessionId: told })).toContain(
      "unknown session",
    );
    for (const sessionId of working) expect(await resume(sessionId)).toBe(sessionId);
  });
});

describe("an ended process that others pushed out", () => {
  const server = useServer({ sessions: { maxEnded: 2 } });

  it("keeps its id while a client may come back and start it again", async () => {
    const first = await server.connect();
    const sessionId = await first.handshake();
    for (const id of ["one", "two", "three", "four"]) {
      await first.start(id, ["true"]);
      await first.untilEvent("process/closed", id);
    }
    expect(await first.refusal("process/read", { processId: "one" })).toBe("-32600 unknown process id one");
    await first.close();
    await first.served;
    const second = await server.connect();
    await second.handshake(sessionId);
    for (const id of ["one", "two", "three", "four"]) {
      expect(await second.refusal("process/start", startParams(id, ["true"]))).toBe(
        `-32600 process ${id} already exists`,
      );
    }
  });
});

describe("ids of processes that were forgotten early", () => {
  it("are remembered for a time, and as many as there may be", async () => {
    const ids = new EvictedIds(20);
    ids.add("one");
    expect([ids.has("one"), ids.has("two"), ids.isFull]).toEqual([true, false, false]);
    while (ids.has("one")) await betweenPolls();
    for (let count = 0; count < MAX_EVICTED_IDS; count += 1) ids.add(String(count));
    expect(ids.isFull).toBe(true);
    ids.close();
  });
});

describe("a client that cannot come back", () => {
  const server = useServer();

  it("takes its session along, after its requests were answered", async () => {
    const client = await server.connect("stdio");
    const sessionId = await client.handshake();
    await client.start("p", ["sleep", "60"]);
    const { processes } = await client.ask<{ processes: { pid: number }[] }>("process/list");
    await client.close();
    await client.served;
    expect(isAlive(processes[0]!.pid)).toBe(false);
    const second = await server.connect();
    expect(await second.refusal("initialize", { clientName: "x", resumeSessionId: sessionId })).toContain("unknown");
  });
});

describe("an ended process", () => {
  const server = useServer({ sessions: { endedRetentionMs: 50 } });

  it("is forgotten after a while, and its id is free", async () => {
    const client = await server.ready();
    await client.start("p", ["true"]);
    await client.untilEvent("process/closed", "p");
    for (;;) {
      const { error } = await client.request("process/read", { processId: "p" });
      if (error !== undefined) {
        expect(error).toEqual({ code: -32600, message: "unknown process id p" });
        break;
      }
      await betweenPolls();
    }
    await client.start("p", ["true"]);
  });

  it("is forgotten as those before it were, in the order in which they closed", async () => {
    const client = await server.ready();
    for (const id of ["first", "second", "third"]) {
      await client.start(id, ["true"]);
      await client.untilEvent("process/closed", id);
    }
    const list = async () => {
      const { processes } = await client.ask<{ processes: { processId: string }[] }>("process/list");
      return processes.map(({ processId }) => processId);
    };
    const all = ["first", "second", "third"];
    for (let left = await list(); left.length > 0; left = await list()) {
      expect(left).toEqual(all.slice(all.length - left.length));
      await betweenPolls();
    }
  });
});

/** Between two polls of what is not reported as an event: that the server has forgotten an id. */
const betweenPolls = () => new Promise<void>((resolve) => void setTimeout(resolve, 5));

describe("a server that drains", () => {
  const server = useServer({ drainGraceMs: 20_000 });

  it("starts nothing more and serves no other client, while a process that ends still tells its last output", async () => {
    const client = await server.ready();
    await client.start(
      "p",
      // The shell tells on stderr that its `sleep` was terminated.
      ["sh", "-c", "exec 2>&-; trap 'echo last; read x; exit 3' TERM; echo ready; while :; do sleep 0.02; done"],
      { pipeStdin: true },
    );
    await client.until(() => client.outputOf("p") === "ready\n");
    const drained = (await server.get()).drain();
    await client.until(() => client.outputOf("p") === "ready\nlast\n");

    expect(await client.refusal("process/start", startParams("q", ["true"]))).toMatch(
      /q was not started.*shutting down/,
    );
    const late = await server.connect();
    await late.finished;

    await client.ask("process/write", { processId: "p", chunk: "Cg==", writeId: "1" });
    expect(paramsOf(await client.untilEvent("process/exited", "p"))).toMatchObject({ exitCode: 3 });
    await drained;
    await client.finished;
  });
});

describe("a client that reads nothing while a server drains", () => {
  const server = useServer({ drainGraceMs: 60_000 });

  it("delays no other client", async () => {
    const { dial } = await server.listen();
    const stuck = await dial({ read: false });
    const flood = "trap '' TERM; while :; do head -c 65536 /dev/zero; done";
    stuck.send({ id: 1, method: "initialize", params: { clientName: "test" } });
    stuck.send({ method: "initialized", params: {} });
    stuck.send({ id: 2, method: "process/start", params: startParams("flood", ["sh", "-c", flood]) });
    const reader = await dial();
    await reader.handshake();
    const program = "exec 2>&-; trap 'echo last; exit 3' TERM; echo ready; while :; do sleep 0.02; done";
    await reader.start("p", ["sh", "-c", program]);
    await reader.until(() => reader.outputOf("p") === "ready\n");
    await expect.poll(async () => (await server.get()).sessionCount).toBe(2);

    void (await server.get()).drain();
    // Within the time of a test, which the grace of the other one's program exceeds.
    await reader.finished;
    expect(reader.outputOf("p")).toBe("ready\nlast\n");
    expect(paramsOf(await reader.untilEvent("process/exited", "p"))).toMatchObject({ exitCode: 3 });
  });
});
