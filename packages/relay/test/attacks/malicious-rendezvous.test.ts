// A registry and rendezvous that is an attacker: it learns lengths and times, and can end streams, and nothing else.
import { afterEach, expect, it } from "vitest";
import {
  createIdentity,
  encodeFrame,
  encodePublicKey,
  fingerprintOf,
  loadMlKem,
  openNoiseChannel,
  readFrameHead,
} from "../../src/index.js";
import { type Relayed, startRelayed } from "../pair.js";

const open: Relayed[] = [];
afterEach(async () => {
  for (const relayed of open.splice(0)) await relayed.close();
});

async function start() {
  const relayed = await startRelayed();
  open.push(relayed);
  return relayed;
}

/** A stream whose executor counts and echoes what it gets. */
async function startEcho(relayed: Relayed) {
  const { harness, accepted } = await relayed.open();
  const executor = await accepted;
  const executed: unknown[] = [];
  const echo = async () => {
    for (let got = await executor.receive(); got?.kind === "value"; got = await executor.receive()) {
      executed.push(got.value);
      await executor.send(got.value);
    }
  };
  void echo();
  const call = async (value: unknown) => {
    await harness.send(value);
    return harness.receive();
  };
  return { harness, executed, call };
}

it("reads neither messages nor the authorization: texts of the same length look the same", async () => {
  const relayed = await start();
  const seen: Buffer[] = [];
  relayed.rendezvous.meddle = (frame) => {
    seen.push(frame);
    return [frame];
  };
  const { call } = await startEcho(relayed);
  await call("hello");
  const sizes: number[][] = [];
  for (const secret of ["MARKER-SECRET-AAAA", "MARKER-SECRET-ZZZZ"]) {
    const from = seen.length;
    expect(await call({ secret })).toMatchObject({ kind: "value", value: { secret } });
    sizes.push(
      seen
        .slice(from)
        .filter((frame) => readFrameHead(frame)?.kind === "data")
        .map((frame) => frame.length),
    );
  }
  expect(sizes[0]).toEqual(sizes[1]);
  const everything = Buffer.concat(seen).toString("latin1");
  for (const text of ["MARKER-SECRET", "hello", "let me in", Buffer.from("MARKER-SECRET").toString("base64")]) {
    expect(everything).not.toContain(text);
  }
});

it("replays frames of a stream into the same and into another one: nothing is executed twice", async () => {
  const relayed = await start();
  const [first, second] = [await startEcho(relayed), await startEcho(relayed)];
  const recorded: Buffer[] = [];
  relayed.rendezvous.meddle = (frame, from) => {
    if (from === "harness" && readFrameHead(frame)?.kind === "data") recorded.push(Buffer.from(frame));
    return [frame];
  };
  for (let n = 0; n < 5; n += 1) await first.call({ n });
  for (const frame of [...recorded]) relayed.rendezvous.toExecutor(frame);
  await second.call({ other: 1 });
  const own = readFrameHead(recorded.at(-1)!)!.streamId;
  // The same frames under the id of the other stream: sealed with other keys, so that stream is reset; its harness resumes it.
  for (const frame of recorded.slice(0, 5)) {
    const old = readFrameHead(frame)!.streamId;
    relayed.rendezvous.toExecutor(Buffer.from(frame.toString("latin1").replace(old, own), "latin1"));
  }
  expect(await first.call({ n: 5 })).toMatchObject({ value: { n: 5 } });
  expect(await second.call({ other: 2 })).toMatchObject({ value: { other: 2 } });
  expect(first.executed).toEqual([0, 1, 2, 3, 4, 5].map((n) => ({ n })));
  expect(second.executed).toEqual([{ other: 1 }, { other: 2 }]);
});

it("sends a harness to another executor: the handshake fails, and nothing is executed there", async () => {
  const [right, wrong] = [await start(), await start()];
  const { executed } = await startEcho(wrong);
  right.rendezvous.changeAnswer = (method, answer) =>
    method === "connect" ? { ...answer, url: `${wrong.rendezvous.url.replace("http", "ws")}/harness` } : answer;
  await expect(openNoiseChannel({ registry: right.registry })).rejects.toThrow(/reset|handshake/);
  expect(executed).toEqual([]);
});

it("names its own key: a pinned harness refuses it before it has dialled", async () => {
  const relayed = await start();
  const pinned = relayed.executor.fingerprint;
  const evil = createIdentity(await loadMlKem()).publicKey;
  relayed.rendezvous.changeAnswer = (method, answer) =>
    method === "connect" ? { ...answer, executor_public_key: encodePublicKey(evil) } : answer;
  const dialled: string[] = [];
  relayed.rendezvous.meddle = (frame, from) => {
    dialled.push(from);
    return [frame];
  };
  const checkKey = (key: Parameters<typeof fingerprintOf>[0]) => {
    if (fingerprintOf(key) !== pinned) throw new Error(`the key is ${fingerprintOf(key)}`);
  };
  await expect(openNoiseChannel({ registry: relayed.registry, checkKey })).rejects.toThrow(
    `the key is ${fingerprintOf(evil)}`,
  );
  expect(dialled).toEqual([]);
});

it("swaps the key while a stream is interrupted: the stream ends, it does not go on elsewhere", async () => {
  const relayed = await start();
  const { harness, call, executed } = await startEcho(relayed);
  await call(1);
  const evil = createIdentity(await loadMlKem()).publicKey;
  relayed.rendezvous.changeAnswer = (method, answer) =>
    method === "connect" ? { ...answer, executor_public_key: encodePublicKey(evil) } : answer;
  relayed.rendezvous.cut("harness");
  const end = await harness.closed;
  expect(end).toMatchObject({ kind: "failed", error: { message: expect.stringContaining("replaced by another one") } });
  expect(executed).toEqual([1]);
});

it("admits a harness of its own, which cannot take over the session of another", async () => {
  const relayed = await start();
  const { call, executed } = await startEcho(relayed);
  await call("mine");
  const stolen = await relayed.open();
  const accepted = stolen.accepted;
  await stolen.harness.send("theirs");
  const other = await accepted;
  expect(await other.receive()).toMatchObject({ value: "theirs" });
  await call("mine again");
  expect(executed).toEqual(["mine", "mine again"]);
});

it("replays and changes the handshake with which a stream is resumed: refused, and the stream goes on", async () => {
  const relayed = await start();
  const { call, executed } = await startEcho(relayed);
  await call(0);
  const handshakes: Buffer[] = [];
  relayed.rendezvous.meddle = (frame, from) => {
    if (from === "harness" && readFrameHead(frame)?.kind === "handshake") handshakes.push(Buffer.from(frame));
    return [frame];
  };
  relayed.rendezvous.cut("harness");
  expect(await call(1)).toMatchObject({ value: 1 });
  const [frame] = handshakes;
  // Without ML-KEM: its keys follow from those of the first handshake.
  expect(frame!.length).toBeLessThan(200);
  const resets: string[] = [];
  relayed.rendezvous.meddle = (each, from) => {
    const head = readFrameHead(each);
    if (from === "executor" && head?.kind === "reset") resets.push(head.streamId);
    return [each];
  };
  const { streamId } = readFrameHead(frame!)!;
  const changed = Array.from({ length: 4 }, (_, n) => {
    const id = streamId.replace(/.$/, String(n));
    const copy = Buffer.from(frame!.toString("latin1").replace(streamId, id), "latin1");
    // Another stream id; then also another resumption id, public key, payload.
    if (n > 0) copy[copy.length - [0, 70, 40, 1][n]!]! ^= 1;
    relayed.rendezvous.toExecutor(copy);
    return id;
  }).filter((id) => id !== streamId);
  await expect.poll(() => resets).toEqual(expect.arrayContaining(changed));
  expect(await call(2)).toMatchObject({ value: 2 });
  expect(executed).toEqual([0, 1, 2]);
});

it("forges resets: the streams are resumed, and nothing is lost", async () => {
  const relayed = await start();
  let streamId = "";
  relayed.rendezvous.meddle = (frame) => {
    streamId = readFrameHead(frame)?.streamId ?? streamId;
    return [frame];
  };
  const { call, executed } = await startEcho(relayed);
  for (let n = 0; n < 4; n += 1) {
    expect(await call(n)).toMatchObject({ value: n });
    relayed.rendezvous.toExecutor(encodeFrame({ streamId, body: { kind: "reset", reason: "forged" } }));
  }
  expect(await call(4)).toMatchObject({ value: 4 });
  expect(executed).toEqual([0, 1, 2, 3, 4]);
});
