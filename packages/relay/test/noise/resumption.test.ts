import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { createIdentity, InitiatorHandshake, loadMlKem, ResponderHandshake } from "../../src/index.js";
import { ResumptionInitiator, ResumptionResponder } from "../../src/noise/resumption.js";

const context = { environmentId: "env-1", registrationId: "reg-1", streamId: "s-1" };
const resumption = { id: randomBytes(16), secret: randomBytes(32) };
const mlKem = await loadMlKem();
const initiator = createIdentity(mlKem).publicKey;

it("gives both ends the keys of the other, new ones each time", () => {
  const sent = [1, 2].map(() => {
    const harness = new ResumptionInitiator({ context, resumption });
    const executor = new ResumptionResponder({ context, resumption, initiator });
    const received = executor.receive(harness.start(Buffer.from("let me in")));
    expect(received.initiator).toBe(initiator);
    expect(Buffer.from(received.payload).toString()).toBe("let me in");
    const { message, session } = executor.respond();
    const { keys, handshakeHash } = harness.finish(message);
    expect(handshakeHash).toEqual(session.handshakeHash);
    expect(keys.sent).toEqual(session.keys.received);
    expect(keys.received).toEqual(session.keys.sent);
    expect(keys.sentControl).toEqual(session.keys.receivedControl);
    expect(keys.receivedControl).toEqual(session.keys.sentControl);
    return keys.sent.toString("hex");
  });
  expect(new Set(sent).size).toBe(2);
});

it("takes what a complete handshake has left at both ends", () => {
  const identity = createIdentity(mlKem);
  const harness = new InitiatorHandshake({
    context,
    identity: createIdentity(mlKem),
    mlKem,
    responder: identity.publicKey,
  });
  const executor = new ResponderHandshake({ context, identity, mlKem });
  executor.receive(harness.start(Buffer.alloc(0)));
  const { message, session } = executor.respond();
  const left = harness.finish(message).resumption;
  expect(left).toEqual(session.resumption);
  expect([left.id.length, left.secret.length]).toEqual([16, 32]);
});

it.each([
  ["another secret", { resumption: { ...resumption, secret: randomBytes(32) } }],
  ["another id", { resumption: { ...resumption, id: randomBytes(16) } }],
  ["another stream", { context: { ...context, streamId: "s-2" } }],
  ["another registration", { context: { ...context, registrationId: "reg-2" } }],
  ["another environment", { context: { ...context, environmentId: "env-2" } }],
])("refuses message 1 of %s", (_, change) => {
  const message = new ResumptionInitiator({ context, resumption, ...change }).start(Buffer.from("let me in"));
  expect(() => new ResumptionResponder({ context, resumption, initiator }).receive(message)).toThrow();
});

it("refuses messages that were changed or cut at any byte", () => {
  const exchange = () => {
    const harness = new ResumptionInitiator({ context, resumption });
    const first = harness.start(Buffer.from("let me in"));
    const executor = new ResumptionResponder({ context, resumption, initiator });
    executor.receive(first);
    return { harness, first, message: executor.respond().message };
  };
  const { first, message } = exchange();
  // The id in clear, before message 1, is that of the secret.
  for (let at = 16; at < first.length; at += 1) {
    for (const bad of [flip(first, at), first.subarray(0, at)]) {
      expect(() => new ResumptionResponder({ context, resumption, initiator }).receive(bad)).toThrow();
    }
  }
  for (let at = 0; at < message.length; at += 1) {
    const [one, two] = [exchange(), exchange()];
    expect(() => one.harness.finish(flip(one.message, at))).toThrow();
    expect(() => two.harness.finish(two.message.subarray(0, at))).toThrow();
  }
  // The answer to another message 1, too.
  expect(() => exchange().harness.finish(message)).toThrow();
});

function flip(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
}
