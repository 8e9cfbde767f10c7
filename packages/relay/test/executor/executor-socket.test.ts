// What a rendezvous may send to an executor: it is refused, its stream is reset, and no other stream notices.
import { randomBytes } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import {
  createIdentity,
  decodeFrame,
  encodeFrame,
  type FrameBody,
  InitiatorHandshake,
  loadMlKem,
  type NoisePublicKey,
  publicKeySchema,
} from "../../src/index.js";
import { MAX_FAILED_HANDSHAKES } from "../../src/limits.js";
import { type Relayed, startRelayed } from "../pair.js";

const open: Relayed[] = [];
afterEach(async () => {
  for (const relayed of open.splice(0)) await relayed.close();
});

/** An executor with one stream that echoes, and a way to put frames of one's own before it. */
async function start() {
  const relayed = await startRelayed();
  open.push(relayed);
  const { harness, accepted } = await relayed.open();
  const executor = await accepted;
  const echo = async () => {
    for (let got = await executor.receive(); got?.kind === "value"; got = await executor.receive()) {
      await executor.send(got.value);
    }
  };
  void echo();
  const resets: string[] = [];
  const answers: { streamId: string; body: FrameBody }[] = [];
  const { rendezvous } = relayed;
  rendezvous.meddle = (frame, from) => {
    const decoded = decodeFrame(frame);
    if (from === "executor" && decoded.ok) {
      answers.push(decoded.frame);
      if (decoded.frame.body.kind === "reset") resets.push(decoded.frame.streamId);
    }
    return [frame];
  };
  let sent = 0;
  return {
    ...relayed,
    resets,
    answers,
    send: (streamId: string, body: FrameBody) => rendezvous.toExecutor(encodeFrame({ streamId, body })),
    /** The other stream still works, and everything that was sent before has been handled. */
    async check() {
      await harness.send(++sent);
      expect(await harness.receive()).toMatchObject({ kind: "value", value: sent });
    },
  };
}

async function handshakeOf(
  relayed: Relayed,
  streamId: string,
  change: Partial<{ environmentId: string; key: NoisePublicKey; payload: Buffer }> = {},
) {
  const mlKem = await loadMlKem();
  const [registered] = relayed.rendezvous.requests.filter(({ method }) => method === "register");
  const responder = change.key ?? publicKeySchema.parse(registered!.body.executor_public_key);
  const { environmentId = "env-1", payload = Buffer.from("let me in") } = change;
  const context = { environmentId, registrationId: relayed.rendezvous.registrationId, streamId };
  return new InitiatorHandshake({ context, identity: createIdentity(mlKem), mlKem, responder }).start(payload);
}

it("resets data for a stream that it does not know", async () => {
  const place = await start();
  place.send("nobody", { kind: "data", seq: 0, payload: randomBytes(40) });
  await place.check();
  expect(place.resets).toEqual(["nobody"]);
});

it("drops text, bytes that are no frame, another version, and frames that mean nothing", async () => {
  const place = await start();
  place.rendezvous.toExecutor("text");
  for (const bytes of [Buffer.alloc(0), randomBytes(50), Buffer.from("0802120173", "hex")])
    place.rendezvous.toExecutor(bytes);
  for (const kind of ["heartbeat"] as const) place.send("nobody", { kind });
  place.send("nobody", { kind: "ack", counter: 0, payload: randomBytes(30) });
  place.send("nobody", { kind: "reset", reason: "x" });
  await place.check();
  expect(place.resets).toEqual([]);
});

it.each([
  ["random bytes", async () => randomBytes(3600)],
  ["nothing", async () => Buffer.alloc(0)],
  ["another environment", (relayed: Relayed) => handshakeOf(relayed, "new", { environmentId: "env-2" })],
  ["another stream", (relayed: Relayed) => handshakeOf(relayed, "other")],
  [
    "another executor's key",
    async (relayed: Relayed) => handshakeOf(relayed, "new", { key: createIdentity(await loadMlKem()).publicKey }),
  ],
  [
    "an authorization that the registry does not know",
    (relayed: Relayed) => handshakeOf(relayed, "new", { payload: Buffer.from("no") }),
  ],
  [
    "an authorization that is too long",
    (relayed: Relayed) => handshakeOf(relayed, "new", { payload: Buffer.alloc(4097, "a") }),
  ],
])("resets a handshake of %s", async (_, make) => {
  const place = await start();
  place.send("new", { kind: "handshake", payload: await make(place) });
  await expect.poll(() => place.resets).toEqual(["new"]);
  await place.check();
});

it("answers a handshake that was replayed under another id, or sent again, with a reset", async () => {
  const place = await start();
  const message = await handshakeOf(place, "new");
  place.send("new", { kind: "handshake", payload: message });
  await expect.poll(() => place.answers.filter(({ body }) => body.kind === "handshake")).toHaveLength(1);
  place.send("new", { kind: "handshake", payload: message });
  place.send("newer", { kind: "handshake", payload: message });
  await expect.poll(() => [...place.resets].sort()).toEqual(["new", "newer"]);
  await place.check();
});

it(`refuses handshakes for a while after ${MAX_FAILED_HANDSHAKES} that failed; open streams go on`, async () => {
  const place = await start();
  const good = await handshakeOf(place, "good");
  for (let n = 0; n < MAX_FAILED_HANDSHAKES; n += 1) {
    place.send(`bad-${n}`, { kind: "handshake", payload: randomBytes(3600) });
  }
  await expect.poll(() => place.resets).toHaveLength(MAX_FAILED_HANDSHAKES);
  place.send("good", { kind: "handshake", payload: good });
  await place.check();
  expect(place.resets.at(-1)).toBe("good");
});

it("registers again where it was told to, after an error as long as the answer says", async () => {
  const place = await start();
  await place.check();
  let refusals = 0;
  place.rendezvous.refuse = (method) => {
    if (method !== "register" || refusals >= 2) return undefined;
    refusals += 1;
    return { status: 503, headers: { "retry-after": "0" } };
  };
  place.rendezvous.forget();
  place.rendezvous.cut("executor");
  await expect.poll(() => place.rendezvous.requests.filter(({ method }) => method === "register").length).toBe(4);
  await place.rendezvous.connected();
  await place.check();
});
