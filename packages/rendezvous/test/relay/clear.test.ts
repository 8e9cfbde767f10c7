import { connect as connectTcp } from "node:net";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../fake-clock.js";
import { dial, makeKey, type Started, startExecutor, startRendezvous, until } from "../support.js";

const at = (url: string, path: string) => `${url.replace("http", "ws")}${path}`;

async function startDirect({ post }: Started, environment = "env-1") {
  const { body } = await post(`/cloud/environment/${environment}/direct/register`, { transport: "direct_jsonrpc_v1" });
  return { url: body.url!, end: await dial(body.url!) };
}

describe("a direct executor", () => {
  it("and its harness exchange messages as they are, text and binary", async () => {
    const started = await startRendezvous();
    const { end: executor } = await startDirect(started);
    const harness = await dial(at(started.url, "/direct/env-1"));
    harness.socket.send('{"id":1}');
    harness.socket.send(Buffer.from("bin"));
    executor.socket.send("y".repeat(3_000_000));
    expect(await executor.next()).toEqual({ bytes: Buffer.from('{"id":1}'), isBinary: false });
    expect(await executor.next()).toEqual({ bytes: Buffer.from("bin"), isBinary: true });
    expect((await harness.next()).bytes.length).toBe(3_000_000);
  });

  it("serves one harness after the other: an upgrade waits until it is back", async () => {
    const started = await startRendezvous();
    const { url, end } = await startDirect(started);
    const first = await dial(at(started.url, "/direct/env-1"));
    const second = dial(at(started.url, "/direct/env-1"));
    const third = dial(at(started.url, "/direct/env-1"));
    first.socket.close();
    expect(await end.closed).toBe(1000);
    const again = await dial(url);
    (await second).socket.send("second");
    expect((await again.next()).bytes.toString()).toBe("second");
    again.socket.terminate();
    expect(await (await second).closed).toBe(1013);
    const last = await dial(url);
    (await third).socket.send("third");
    expect((await last.next()).bytes.toString()).toBe("third");
  });

  it("is waited for also before it was ever there, but not for ever", async () => {
    const started = await startRendezvous({ limits: { holdMs: 300 } });
    const harness = dial(at(started.url, "/direct/env-1"));
    const { end } = await startDirect(started);
    (await harness).socket.send("x");
    expect((await end.next()).bytes.toString()).toBe("x");
    await expect(dial(at(started.url, "/direct/env-1"))).rejects.toThrow("503 executor_away");
  });

  it("is not given to a harness that has gone while it waited", async () => {
    const started = await startRendezvous();
    const { port } = new URL(started.url);
    const wire = connectTcp(Number(port), "127.0.0.1");
    wire.write(
      "GET /direct/env-1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    );
    const { rendezvous } = started;
    await until(() => rendezvous.countWaiting("env-1") === 1);
    wire.destroy();
    await until(() => rendezvous.countWaiting("env-1") === 0);
    const { end } = await startDirect(started);
    const harness = await dial(at(started.url, "/direct/env-1"));
    harness.socket.send("x");
    expect((await end.next()).bytes.toString()).toBe("x");
  });

  it("is waited for by so many and no more", async () => {
    const started = await startRendezvous({ limits: { maxHeld: 2 } });
    const waiting = [dial(at(started.url, "/direct/env-1")), dial(at(started.url, "/direct/env-1"))];
    await until(() => started.rendezvous.countWaiting("env-1") === 2);
    await expect(dial(at(started.url, "/direct/env-1"))).rejects.toThrow("503 too_many_waiting");
    await started.listener.close();
    for (const each of waiting) await expect(each).rejects.toThrow("503 draining");
  });

  it("pauses who writes faster than the other reads, and loses nothing", async () => {
    const started = await startRendezvous();
    const { end: executor } = await startDirect(started);
    const harness = await dial(at(started.url, "/direct/env-1"));
    harness.socket.pause();
    for (let sent = 0; sent < 300; sent += 1) executor.socket.send(Buffer.alloc(100_000, sent));
    await until(() => executor.socket.bufferedAmount > 0 && started.count("bytes_total", "to_harness") > 1_000_000);
    harness.socket.resume();
    for (let sent = 0; sent < 300; sent += 1) expect((await harness.next()).bytes[0]).toBe(sent % 256);
  });

  it("whose harness no longer answers is freed for the one that waits", async () => {
    const clock = new FakeClock();
    const started = await startRendezvous({ clock });
    const { url, end } = await startDirect(started);
    const dead = await dial(at(started.url, "/direct/env-1"));
    dead.socket.pause();
    clock.advance(5_000);
    const next = dial(at(started.url, "/direct/env-1"));
    await until(() => started.rendezvous.countWaiting("env-1") === 1);
    clock.advance(5_000);
    await end.closed;
    expect(started.count("silent_connections_total")).toBe(1);
    await dial(url);
    await next;
  });
});

describe("a legacy executor", () => {
  it("is reached by its path, many harnesses at once, with frames of any length", async () => {
    const started = await startRendezvous();
    const { body } = await started.post("/cloud/environment/env-1/register", "");
    const executor = await dial(body.url!);
    const harnesses = [
      await dial(at(started.url, "/legacy/env-1?role=harness")),
      await dial(at(started.url, "/legacy/env-1?role=harness&x=1")),
    ];
    for (const [index, harness] of harnesses.entries()) harness.data(`s${index}`, Buffer.alloc(2_000_000, index));
    for (const _ of harnesses) {
      const { streamId, body: data } = await executor.nextFrame();
      expect("payload" in data && data.payload.length).toBe(2_000_000);
      executor.data(streamId, streamId);
    }
    expect(await Promise.all(harnesses.map((harness) => harness.nextText()))).toEqual(["s0", "s1"]);
  });

  it("is not reached without the role", async () => {
    const started = await startRendezvous();
    await expect(dial(at(started.url, "/legacy/env-1"))).rejects.toThrow("400 bad_request");
    await expect(dial(at(started.url, "/legacy/env-1?role=executor"))).rejects.toThrow("400 bad_request");
  });
});

describe("clear text", () => {
  it("does not reach an executor with Noise", async () => {
    const started = await startRendezvous();
    const { end } = await startExecutor(started);
    for (const path of ["/legacy/env-1?role=harness", "/direct/env-1"]) {
      await expect(dial(at(started.url, path))).rejects.toThrow("403 clear_transport");
    }
    expect([started.count("refusals_total", "clear_transport"), end.waiting]).toEqual([2, 0]);
  });

  it("is refused where only Noise is wanted", async () => {
    const started = await startRendezvous({ noiseOnly: true });
    await expect(dial(at(started.url, "/direct/env-1"))).rejects.toThrow("403 clear_transport");
    expect((await started.post("/cloud/environment/env-1/connect", { harness_public_key: makeKey() })).status).toBe(
      503,
    );
  });

  it("of one kind does not reach an executor of the other", async () => {
    const started = await startRendezvous();
    await startDirect(started);
    await expect(dial(at(started.url, "/legacy/env-1?role=harness"))).rejects.toThrow("403 clear_transport");
  });
});

describe("shutdown", () => {
  it("refuses new work, tells everybody to connect again, and ends", async () => {
    const started = await startRendezvous();
    const executor = await startExecutor(started);
    const harness = await dial((await connectTo(started)).url);
    harness.data("s1", "x");
    await executor.end.next();
    started.rendezvous.drain();
    expect(
      (await started.post("/cloud/environment/env-1/connect", { harness_public_key: makeKey() })).body.error?.code,
    ).toBe("draining");
    await expect(dial(executor.url)).rejects.toThrow("503 draining");
    executor.end.data("s1", "last words");
    expect(await harness.nextText()).toBe("last words");
    await started.listener.close();
    expect([await executor.end.closed, await harness.closed]).toEqual([1012, 1012]);
    await expect(dial(executor.url)).rejects.toThrow("ECONNREFUSED");
  });
});

async function connectTo({ post }: Started) {
  const { body } = await post("/cloud/environment/env-1/connect", { harness_public_key: makeKey() });
  return { url: body.url! };
}
