import { describe, expect, it } from "vitest";
import { ManualClock } from "../support/manual-clock.js";
import { isAlive, startSession } from "../support/real-host.js";
import { resumeWith, startLasting, useResumableHosts } from "../support/resumable.js";

describe("the grace", () => {
  const open = useResumableHosts();

  it("once over, everything is ended completely, and the log has the receipts", async () => {
    const { connect, logs } = open({ resumeGraceMs: 1 });
    const client = connect();
    const script = "trap '' TERM HUP; sleep 1000 & echo child $!; echo pid $$; while :; do wait; done";
    const { sessionId } = await client.initialize();
    const { id, output } = await startSession(client, { command: ["sh", "-c", script] }, "pid ");
    const pids = [...output.matchAll(/\d+/g)].map(([pid]) => Number(pid));
    await client.cut();
    await client.served;
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(logs.length).toBe(1);
    expect(logs[0]).toEqual({
      event: "session ended with its channel",
      fields: {
        sessionId: id,
        program: "sh",
        cause: "it was not resumed within 1 ms",
        outcome: expect.stringMatching(/^Process was killed by SIGKILL /) as string,
        signals: "SIGTERM SIGKILL",
        gone: true,
      },
    });
    expect(await connect().refusedInitialize({ resumeSessionId: sessionId })).toMatch(/unknown/);
  });

  it("begins anew with each lost channel", async () => {
    const clock = new ManualClock();
    const { connect } = open({ clock, resumeGraceMs: 1_000 });
    let client = connect();
    const { sessionId } = await client.initialize();
    for (let round = 0; round < 3; round++) {
      await client.cut();
      await clock.untilWaiting();
      clock.advance(999);
      client = connect();
      await client.initialize({ resumeSessionId: sessionId });
      expect(clock.waiting).toBe(0);
    }
    await client.cut();
    await clock.untilWaiting();
    clock.advance(1_000);
    await Promise.race([client.served, clock.untilWaiting().then(() => clock.advance(10_000))]);
    expect(await connect().refusedInitialize({ resumeSessionId: sessionId })).toMatch(/unknown/);
  });

  it("does not run on when the next channel comes just as the one before is lost", async () => {
    const clock = new ManualClock();
    const { connect } = open({ clock });
    let client = connect();
    const { sessionId } = await client.initialize();
    for (let turns = 0; turns < 60; turns++) {
      const next = connect();
      const before = client;
      void before.cut();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await next.initialize({ resumeSessionId: sessionId });
      await before.served;
      expect(clock.waiting).toBe(0);
      client = next;
    }
    await client.send({ type: "shutdown", requestId: "s" });
    await client.served;
  });

  it("is cut short when the executor is closed", async () => {
    const { connect, executor } = open();
    const client = connect();
    const { pid } = await startLasting(client);
    await client.cut();
    await executor.close();
    await client.served;
    expect(isAlive(pid)).toBe(false);
  });

  it("is for a bounded number: the one longest gone gives way", async () => {
    const { connect, logs } = open({ limits: { lostChannels: 2 } });
    const gone = [];
    for (let index = 0; index < 3; index++) {
      const client = connect();
      gone.push({ client, ...(await startLasting(client)) });
      await client.cut();
    }
    await gone[0]!.client.served;
    expect(gone.map(({ pid }) => isAlive(pid))).toEqual([false, true, true]);
    expect(JSON.stringify(logs)).toMatch(/2 other connections wait to be resumed, which is the limit/);
    expect(await connect().refusedInitialize({ resumeSessionId: gone[0]!.sessionId })).toMatch(/unknown/);
    await connect().initialize({ resumeSessionId: gone[1]!.sessionId });
  });

  it("never pushes out work for those that have less to lose", async () => {
    const { connect, logs } = open({ limits: { lostChannels: 2 } });
    const first = connect();
    const { sessionId, pid } = await startLasting(first);
    await first.cut();
    const used = connect();
    const { sessionId: usedId } = await used.initialize({ acknowledges: true });
    await used.exec({ command: ["true"] });
    await used.cut();
    const probes = [];
    for (let index = 0; index < 5; index++) {
      const probe = connect();
      await probe.initialize();
      await probe.cut();
      probes.push(probe);
    }
    for (const probe of probes.slice(0, 3)) await probe.served;
    expect(logs).toEqual([]); // no session was ended
    expect(isAlive(pid)).toBe(true);
    await connect().initialize(resumeWith(usedId));
    await connect().initialize(resumeWith(sessionId));
  });

  it("is bounded for those whose programs are over as well", async () => {
    const { connect } = open({ limits: { lostChannels: 2 } });
    const first = connect();
    const { sessionId, pid } = await startLasting(first);
    await first.cut();
    const used = [];
    for (let index = 0; index < 3; index++) {
      const client = connect();
      await client.initialize({ acknowledges: true });
      await client.exec({ command: ["true"] });
      await client.cut();
      used.push(client);
    }
    await used[0]!.served;
    expect(isAlive(pid)).toBe(true);
    await connect().initialize(resumeWith(sessionId));
  });
});
