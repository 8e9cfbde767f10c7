import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { connect, dial, End, startExecutor, startHarness, startRendezvous, until } from "../support.js";

describe("a stream", () => {
  it("is forwarded unchanged in both directions", async () => {
    const started = await startRendezvous();
    const { end: executor } = await startExecutor(started);
    const harness = await startHarness(started);
    harness.send("s1", { kind: "resume", nextSeq: 0 });
    const sent = [randomBytes(1), randomBytes(200_000), randomBytes(61_456)];
    for (const [seq, payload] of sent.entries()) harness.data("s1", payload, seq);
    expect(await executor.nextFrame()).toEqual({ streamId: "s1", body: { kind: "resume", nextSeq: 0 } });
    for (const [seq, payload] of sent.entries()) {
      const { body } = await executor.nextFrame();
      expect(body).toMatchObject({ kind: "data", seq });
      expect("payload" in body && Buffer.compare(body.payload, payload)).toBe(0);
    }
    const { bytes } = await echo(executor, harness, "s1");
    expect(bytes.subarray(-5).toString()).toBe("reply");
  });

  it("keeps unknown fields of a frame", async () => {
    const started = await startRendezvous();
    const { end: executor } = await startExecutor(started);
    const harness = await startHarness(started);
    const frame = Buffer.from([8, 1, 18, 2, 115, 49, 82, 3, 10, 1, 7, 250, 6, 1, 9]); // version, stream_id "s1", handshake, field 111
    harness.socket.send(frame);
    expect((await executor.next()).bytes).toEqual(frame);
  });

  it("of a harness that is gone is reset at the executor, after what it sent", async () => {
    const started = await startRendezvous();
    const { end: executor } = await startExecutor(started);
    const [first, other] = [await startHarness(started), await startHarness(started)];
    other.data("other", "x");
    await executor.next();
    for (let seq = 0; seq < 100; seq += 1) first.data("s1", randomBytes(50_000), seq);
    first.socket.close();
    for (let seq = 0; seq < 100; seq += 1)
      expect((await executor.nextFrame()).body).toMatchObject({ kind: "data", seq });
    expect(await executor.nextFrame()).toMatchObject({ streamId: "s1", body: { kind: "reset" } });
    executor.data("other", "still here");
    expect(await other.nextText()).toBe("still here");
    expect(started.count("resets_total", "harness_gone")).toBe(1);
  });

  it("that the executor has reset is not reset again", async () => {
    const started = await startRendezvous();
    const { end: executor } = await startExecutor(started);
    const [harness, other] = [await startHarness(started), await startHarness(started)];
    harness.data("s1", "x");
    await executor.next();
    executor.send("s1", { kind: "reset", reason: "done" });
    expect((await harness.nextFrame()).body).toEqual({ kind: "reset", reason: "done" });
    harness.socket.close();
    await harness.closed;
    other.data("s2", "next");
    expect((await executor.nextFrame()).streamId).toBe("s2");
  });

  it("goes to nobody but the harness that has its id", async () => {
    const started = await startRendezvous();
    const { end: executor } = await startExecutor(started);
    const [one, two] = [await startHarness(started), await startHarness(started)];
    one.data("s1", "one");
    two.data("s2", "two");
    await executor.next();
    await executor.next();
    executor.data("nobody", "x");
    executor.data("s2", "for two");
    executor.data("s1", "for one");
    expect([await one.nextText(), await two.nextText()]).toEqual(["for one", "for two"]);
    expect([one.waiting, two.waiting]).toEqual([0, 0]);
    expect(started.count("dropped_frames_total", "unknown_stream")).toBe(1);
  });
});

describe("an attack by a harness", () => {
  async function start() {
    const started = await startRendezvous();
    const { end: executor } = await startExecutor(started);
    const victim = await startHarness(started);
    victim.data("victim", "hello");
    expect(await executor.nextText()).toBe("hello");
    return { started, executor, victim, attacker: await startHarness(started) };
  }

  it("with the stream id of another is closed, and the other goes on", async () => {
    const { started, executor, victim, attacker } = await start();
    attacker.send("victim", { kind: "reset", reason: "" });
    expect(await attacker.closed).toBe(1008);
    executor.data("victim", "secret");
    expect(await victim.nextText()).toBe("secret");
    expect([executor.waiting, attacker.waiting, started.count("dropped_frames_total", "foreign_stream")]).toEqual([
      0, 0, 1,
    ]);
  });

  it("with a frame for another stream beside its own reaches nobody", async () => {
    const { started, executor, attacker } = await start();
    attacker.data("mine", "1");
    attacker.send("victim", { kind: "reset", reason: "" });
    attacker.data("mine", "2", 1);
    expect([await executor.nextText(), await executor.nextText()]).toEqual(["1", "2"]);
    expect(started.count("dropped_frames_total", "foreign_stream")).toBe(1);
  });

  it("with what is no valid frame is dropped, and ended when it goes on", async () => {
    const { started, executor, attacker } = await start();
    const invalid: (Buffer | string)[] = [
      Buffer.alloc(0),
      Buffer.from([1, 2, 3]),
      Buffer.from([8, 2, 18, 1, 115, 74, 0]), // version 2
      Buffer.from([8, 1, 18, 0, 74, 0]), // empty stream id
      Buffer.from([8, 1, 74, 0]), // no stream id
      Buffer.alloc(300 * 1024),
      "text",
    ];
    for (const message of invalid) attacker.socket.send(message);
    attacker.data("mine", "valid");
    expect(await executor.nextText()).toBe("valid");
    expect(started.count("dropped_frames_total")).toBe(invalid.length);
    expect(started.count("dropped_frames_total", "too_large")).toBe(1);
    for (let sent = 0; sent < 100; sent += 1) attacker.socket.send(Buffer.from([9]));
    expect(await attacker.closed).toBe(1008);
    expect(executor.socket.readyState).toBe(executor.socket.OPEN);
  });

  it("with a message that is far too large is ended, and the executor never sees it", async () => {
    const { executor, victim, attacker } = await start();
    attacker.socket.send(Buffer.alloc(2 * 1024 * 1024));
    expect(await attacker.closed).toBe(1009);
    executor.data("victim", "ok");
    expect(await victim.nextText()).toBe("ok");
  });

  it("that floods does not hold up another", async () => {
    const { started, executor, victim, attacker } = await start();
    executor.socket.pause();
    const payload = randomBytes(60_000);
    // More than the sockets between them can hold.
    for (let seq = 0; seq < 1000; seq += 1) attacker.data("mine", payload, seq);
    await until(() => started.count("bytes_total", "to_executor") > 2_000_000);
    victim.data("victim", "quick", 1);
    await until(() => attacker.socket.bufferedAmount > 10_000_000);
    executor.socket.resume();
    let before = 0;
    while ((await executor.nextFrame()).streamId !== "victim") before += 1;
    expect(before).toBeLessThan(500);
    for (let seq = before; seq < 1000; seq += 1) await executor.next();
  });
});

describe("a harness that does not read", () => {
  const limits = { pauseAtBytes: 256 * 1024, maxUnreadBytes: 4 * 1024 * 1024 };
  const payload = randomBytes(60_000);

  it("alone pauses its executor, and loses nothing", async () => {
    const started = await startRendezvous({ limits });
    const { end: executor } = await startExecutor(started);
    const harness = await startHarness(started);
    harness.data("s1", "x");
    await executor.next();
    harness.socket.pause();
    for (let seq = 0; seq < 500; seq += 1) executor.data("s1", payload, seq);
    await until(() => started.count("unread_bytes") >= limits.pauseAtBytes);
    expect(executor.socket.bufferedAmount).toBeGreaterThan(0);
    harness.socket.resume();
    for (let seq = 0; seq < 500; seq += 1) expect((await harness.nextFrame()).body).toMatchObject({ seq });
    expect([started.count("resets_total"), started.count("unread_bytes")]).toEqual([0, 0]);
  });

  it("beside others loses its stream, within a bound; the others go on", async () => {
    const started = await startRendezvous({ limits });
    const { end: executor } = await startExecutor(started);
    const [slow, quick] = [await startHarness(started), await startHarness(started)];
    slow.data("slow", "x");
    quick.data("quick", "x");
    await executor.next();
    await executor.next();
    slow.socket.pause();
    let highest = 0;
    for (let seq = 0; started.count("resets_total", "unread") === 0; seq += 1) {
      executor.data("slow", payload, seq);
      executor.data("quick", "tick", seq);
      await quick.next();
      highest = Math.max(highest, started.count("unread_bytes"));
    }
    expect(highest).toBeLessThan(limits.maxUnreadBytes + 2 * payload.length);
    expect(await executor.nextFrame()).toMatchObject({ streamId: "slow", body: { kind: "reset" } });
    expect(started.count("unread_bytes")).toBe(0);
  });

  it("is not waited for any more when another harness comes", async () => {
    const started = await startRendezvous({ limits });
    const { end: executor } = await startExecutor(started);
    const slow = await startHarness(started);
    slow.data("slow", "x");
    await executor.next();
    slow.socket.pause();
    for (let seq = 0; seq < 300; seq += 1) executor.data("slow", payload, seq);
    await until(() => started.count("unread_bytes") >= limits.pauseAtBytes);
    const quick = await startHarness(started);
    quick.data("quick", "x");
    expect(await executor.nextText()).toBe("x");
    executor.data("quick", "answer");
    expect(await quick.nextText()).toBe("answer");
  });
});

describe("the connection of an executor", () => {
  it("that comes again takes the place of the former one, whose harnesses are told to go", async () => {
    const started = await startRendezvous();
    const executor = await startExecutor(started);
    const harness = await startHarness(started);
    harness.data("s1", "x");
    await executor.end.next();
    const again = await dial(executor.url);
    expect([await executor.end.closed, await harness.closed]).toEqual([4409, 1013]);
    (await startHarness(started)).data("s2", "new");
    expect(await again.nextText()).toBe("new");
    expect(started.count("executors_live")).toBe(1);
  });

  it("of a newer registration takes the place of the older, whose ticket is worth nothing then", async () => {
    const started = await startRendezvous();
    const old = await startExecutor(started);
    const { url: harnessUrl } = await connect(started);
    const { end: executor } = await startExecutor(started);
    expect(await old.end.closed).toBe(4409);
    await expect(dial(old.url)).rejects.toThrow("409 registration_unknown");
    await expect(dial(harnessUrl)).rejects.toThrow("503 executor_away");
    (await startHarness(started)).data("s1", "to the new one");
    expect(await executor.nextText()).toBe("to the new one");
    expect(started.count("registrations_replaced_total")).toBe(1);
  });

  it("is refused with 409 for every ticket that is not its own", async () => {
    const started = await startRendezvous();
    const { url } = await startExecutor(started);
    const other = await startExecutor(started, "env-2");
    const harness = await connect(started);
    const base = url.slice(0, url.indexOf("?"));
    const ticketOf = (from: string) => from.slice(from.indexOf("?"));
    for (const query of ["", "?ticket=", "?ticket=v1.a.b", ticketOf(other.url), ticketOf(harness.url)]) {
      await expect(dial(`${base}${query}`), query).rejects.toThrow("409 registration_unknown");
    }
    const restarted = await startRendezvous();
    const moved = url.replace(/^ws:\/\/[^/]+/, restarted.url.replace("http", "ws"));
    await expect(dial(moved)).rejects.toThrow("409 registration_unknown");
  });
});

describe("the ticket of a harness", () => {
  it("opens one connection", async () => {
    const started = await startRendezvous();
    await startExecutor(started);
    const { url } = await connect(started);
    await dial(url);
    await expect(dial(url)).rejects.toThrow("409 ticket_used");
    expect(started.count("refusals_total", "ticket_used")).toBe(1);
  });

  it("is for one environment and one use, and not to be changed", async () => {
    const started = await startRendezvous();
    const executor = await startExecutor(started);
    await startExecutor(started, "env-2");
    const { url, authorization } = await connect(started);
    const [base, ticket = ""] = url.split("?ticket=");
    const attempt = (to: string) =>
      dial(to).then(
        () => "open",
        (error: Error) => error.message,
      );
    expect(await attempt(url.replace("env-1", "env-2"))).toBe("403 ticket_foreign");
    expect(await attempt(`${base}?ticket=${authorization}`)).toBe("403 ticket_foreign");
    expect(await attempt(`${base}?ticket=${executor.url.split("?ticket=")[1]}`)).toBe("403 ticket_foreign");
    const [version, payload = "", mac] = ticket.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const forged = Buffer.from(JSON.stringify({ ...claims, x: claims.x + 60_000 })).toString("base64url");
    for (const wrong of [`${version}.${forged}.${mac}`, "", `${ticket}A`, "x".repeat(5000)]) {
      expect(await attempt(`${base}?ticket=${wrong}`)).toBe("401 ticket_invalid");
    }
    expect(await attempt(url)).toBe("open");
  });

  it("expires", async () => {
    let now = 1_000_000;
    const started = await startRendezvous({ wallClock: () => now });
    await startExecutor(started);
    const { url } = await connect(started);
    now += 60_000;
    await expect(dial(url)).rejects.toThrow("401 ticket_expired");
  });
});

describe("many harnesses", () => {
  it("300 at one executor: 128 are served, the others refused and counted", async () => {
    const started = await startRendezvous();
    const { end: executor } = await startExecutor(started);
    const tickets = await Promise.all(Array.from({ length: 300 }, () => connect(started)));
    const results = await Promise.all(tickets.map(({ url }) => dial(url).catch((error: Error) => error.message)));
    const harnesses = results.filter((result) => result instanceof End);
    expect([harnesses.length, started.count("refusals_total", "too_many_harnesses")]).toEqual([128, 172]);
    await expect(connect(started)).rejects.toThrow("429 too_many_harnesses");
    for (const [index, harness] of harnesses.entries()) harness.data(`s${index}`, `${index}`);
    for (let answered = 0; answered < 128; answered += 1) {
      const { streamId } = await executor.nextFrame();
      executor.data(streamId, streamId);
    }
    expect(await Promise.all(harnesses.map((harness) => harness.nextText()))).toEqual(
      harnesses.map((_, index) => `s${index}`),
    );
  });

  it("begin in turns: no more handshakes at the same time than an executor takes", async () => {
    const started = await startRendezvous({ limits: { maxPendingStreams: 3 } });
    const { end: executor } = await startExecutor(started);
    const harnesses = await Promise.all(Array.from({ length: 5 }, () => startHarness(started)));
    for (const [index, harness] of harnesses.entries()) {
      harness.data(`s${index}`, "a");
      harness.data(`s${index}`, "b", 1);
    }
    const begun = new Set<string>();
    for (let frames = 0; frames < 6; frames += 1) begun.add((await executor.nextFrame()).streamId);
    expect([begun.size, executor.waiting]).toEqual([3, 0]);
    const [first] = begun;
    executor.data(first!, "answer");
    const next = (await executor.nextFrame()).streamId;
    expect(begun.has(next)).toBe(false);
    harnesses[Number([...begun][1]!.slice(1))]!.socket.terminate();
    const streams = [
      await executor.nextFrame(),
      await executor.nextFrame(),
      await executor.nextFrame(),
      await executor.nextFrame(),
    ];
    expect(new Set([...begun, ...streams.map(({ streamId }) => streamId)]).size).toBe(5);
  });
});

/** Sends a reply of the executor, and returns it as the harness gets it. */
async function echo(executor: End, harness: End, streamId: string) {
  executor.data(streamId, "reply");
  return harness.next();
}
