// Sessions with Codex 0.169.0, and changes to them that must be refused.
import { describe, expect, it } from "vitest";
import { MAX_RECORD_BYTES } from "../../src/limits.js";
import { InitiatorHandshake, type NoiseSession, ResponderHandshake } from "../../src/noise/handshake.js";
import { createIdentity } from "../../src/noise/keys.js";
import { loadMlKem, loadNobleMlKem, type MlKem } from "../../src/noise/ml-kem.js";
import { MessageAssembler } from "../../src/records/message-assembler.js";
import { RecordOpener } from "../../src/records/record-opener.js";
import { NoiseLink } from "../../src/streams/noise-link.js";
import { Outbox } from "../../src/streams/outbox.js";
import { fromHex, type RecordedSession, readSessions, withChange } from "../corpus.js";

interface Played {
  session: NoiseSession;
  hash1: Buffer;
  /** Our own message. */
  sent: Buffer;
  payload: string;
}

/** Runs the handshake of a recorded session, with its randomness. @throws Error where the peer's message is refused */
async function playHandshake(recorded: RecordedSession): Promise<Played> {
  const { ekem, skem } = recorded.encapsulation;
  const random = [ekem, skem].flatMap((hex) => (hex === undefined ? [] : [fromHex(hex)]));
  const mlKem = await loadNobleMlKem(() => random.shift()!);
  const context = {
    environmentId: recorded.environmentId,
    registrationId: recorded.registrationId,
    streamId: recorded.streamId,
  };
  const identity = identityOf(mlKem, recorded.keys.static);
  const ephemeral = identityOf(mlKem, recorded.keys.ephemeral);
  const { protocolName } = recorded;
  const options = { context, identity, ephemeral, mlKem, ...(protocolName === undefined ? {} : { protocolName }) };
  if (recorded.role === "initiator") {
    const { x25519, mlkem768 } = recorded.peer.static;
    const responder = { x25519: fromHex(x25519), mlkem768: fromHex(mlkem768) };
    const handshake = new InitiatorHandshake({ ...options, responder });
    const sent = handshake.start(Buffer.from(recorded.payload));
    const hash1 = handshake.hash;
    return { session: handshake.finish(fromHex(recorded.message2)), hash1, sent, payload: recorded.payload };
  }
  const handshake = new ResponderHandshake(options);
  const { initiator, payload } = handshake.receive(fromHex(recorded.message1));
  const hash1 = handshake.hash;
  expect(Buffer.from(initiator.x25519).toString("hex")).toBe(recorded.peer.static.x25519);
  expect(Buffer.from(initiator.mlkem768).toString("hex")).toBe(recorded.peer.static.mlkem768);
  const { message, session } = handshake.respond();
  return { session, hash1, sent: message, payload: Buffer.from(payload).toString() };
}

function identityOf(mlKem: MlKem, secrets: { x25519: string; mlkem768Seed: string }) {
  return createIdentity(mlKem, { x25519: fromHex(secrets.x25519), mlkem768Seed: fromHex(secrets.mlkem768Seed) });
}

/** Opens what came in, up to the first record that is refused. */
function playTransport({ frames }: RecordedSession, { keys }: NoiseSession) {
  const opener = new RecordOpener(keys.received);
  const assembler = new MessageAssembler();
  const messages: string[] = [];
  try {
    for (const { dir, type, seq = 0, payload = "" } of frames) {
      if (dir === "out" || type !== "data") continue;
      for (const bytes of opener.accept(seq, fromHex(payload))) {
        for (const message of assembler.push(bytes)) messages.push(message.toString());
      }
    }
  } catch (error) {
    return { messages, error };
  }
  return { messages, error: undefined, hasGap: opener.order.hasGap };
}

describe.each(readSessions())("session $name", (recorded) => {
  it("gives the same messages, hashes and keys", async () => {
    const { session, hash1, sent, payload } = await playHandshake(recorded);
    const [toResponder, toInitiator] = recorded.keysSplit;
    const isInitiator = recorded.role === "initiator";
    expect(sent.toString("hex")).toBe(isInitiator ? recorded.message1 : recorded.message2);
    expect(payload).toBe(recorded.payload);
    expect(hash1.toString("hex")).toBe(recorded.hash1);
    expect(session.handshakeHash.toString("hex")).toBe(recorded.handshakeHash);
    expect(session.keys.sent.toString("hex")).toBe(isInitiator ? toResponder : toInitiator);
    expect(session.keys.received.toString("hex")).toBe(isInitiator ? toInitiator : toResponder);
  });

  it("opens what came, and seals what was sent", async () => {
    const { session } = await playHandshake(recorded);
    expect(playTransport(recorded, session)).toEqual({ messages: recorded.received, error: undefined, hasGap: false });
    const out = recorded.frames.filter(({ dir, type }) => dir === "out" && type === "data");
    const sent: string[] = [];
    const link = new NoiseLink(session.keys, recorded.streamId, (frame) =>
      sent.push(Buffer.concat(frame).toString("hex")),
    );
    const outbox = new Outbox();
    for (const message of recorded.sent) outbox.push(Buffer.from(message));
    while (outbox.pendingBytes > 0) outbox.sendNext(link, 0, { mayJoin: false, maxBytes: MAX_RECORD_BYTES });
    expect(sent).toEqual(out.map(({ raw }) => raw));
  });

  it.each(recorded.refusals)("refuses $name", async (refusal) => {
    const changed = withChange(recorded, refusal);
    if (refusal.at === "handshake") {
      await expect(playHandshake(changed)).rejects.toThrow();
      return;
    }
    const { session } = await playHandshake(changed);
    const { messages, error } = playTransport(changed, session);
    expect(error).toBeDefined();
    expect(messages.length).toBeLessThanOrEqual(refusal.receivedAtMost ?? recorded.received.length - 1);
    expect(messages).toEqual(recorded.received.slice(0, messages.length));
  });
});

it("agrees with itself with the ML-KEM of this Node, and each with the other", async () => {
  const implementations = [await loadMlKem(), await loadNobleMlKem()];
  for (const one of implementations) {
    for (const other of implementations) {
      const context = { environmentId: "e", registrationId: "r", streamId: "s" };
      const executor = createIdentity(other);
      const responder = new ResponderHandshake({ context, identity: executor, mlKem: other });
      const identity = createIdentity(one);
      const initiator = new InitiatorHandshake({ context, identity, mlKem: one, responder: executor.publicKey });
      const { payload } = responder.receive(initiator.start(Buffer.from("let me in")));
      expect(Buffer.from(payload).toString()).toBe("let me in");
      const { message, session } = responder.respond();
      const { keys, handshakeHash } = initiator.finish(message);
      expect(handshakeHash).toEqual(session.handshakeHash);
      expect([keys.sent, keys.received]).toEqual([session.keys.received, session.keys.sent]);
      expect([keys.sentControl, keys.receivedControl]).toEqual([
        session.keys.receivedControl,
        session.keys.sentControl,
      ]);
    }
  }
});
