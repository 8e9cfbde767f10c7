import { randomBytes } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { decodeFrame } from "../../src/index.js";
import { MAX_RECORD_BYTES } from "../../src/limits.js";
import { open } from "../../src/noise/aead.js";
import { NoiseLink } from "../../src/streams/noise-link.js";
import { Outbox } from "../../src/streams/outbox.js";

const key = randomBytes(32);
let sent: Buffer[] = [];
let link: NoiseLink;

function openLink(): void {
  sent = [];
  link = new NoiseLink({ sent: key, received: key, sentControl: key, receivedControl: key }, "stream", (parts) => {
    const decoded = decodeFrame(Buffer.concat(parts));
    if (!decoded.ok || decoded.frame.body.kind !== "data") throw new Error("no data frame");
    sent.push(open(key, decoded.frame.body.seq, decoded.frame.body.payload));
    // The parts belong to the socket, which masks them.
    for (const part of parts) part.fill(0xff);
  });
}

beforeEach(openLink);

const sendAll = (outbox: Outbox, mayJoin = true) => {
  while (outbox.pendingBytes > 0) outbox.sendNext(link, 0, { mayJoin, maxBytes: MAX_RECORD_BYTES });
};

const withLength = (message: Buffer) => {
  const bytes = Buffer.alloc(4 + message.length);
  bytes.writeUInt32BE(message.length);
  bytes.set(message, 4);
  return bytes;
};

it("a resumption gets the same bytes from any offset, whatever the records were", () => {
  const messages = [10, 70_000, 3, 9_000, 5, 61_440, 130_000, 1].map((length) => randomBytes(length));
  const all = Buffer.concat(messages.map(withLength));
  for (const offset of [0, 1, 4, 13, 14, 61_440, 61_441, 70_018, 150_000, all.length - 1, all.length]) {
    openLink();
    const outbox = new Outbox();
    for (const message of messages) outbox.push(message);
    sendAll(outbox);
    expect(Buffer.concat(sent).equals(all)).toBe(true);
    openLink();
    outbox.rewind(offset);
    sendAll(outbox);
    expect(Buffer.concat(sent).equals(all.subarray(offset)), `from ${offset}`).toBe(true);
  }
});

it("one message a record for Codex, its length in front", () => {
  const outbox = new Outbox();
  const messages = [randomBytes(5), randomBytes(20_000), randomBytes(7)];
  for (const message of messages) outbox.push(message);
  sendAll(outbox, false);
  expect(sent.map((record) => record.toString("hex"))).toEqual(
    messages.map((message) => withLength(message).toString("hex")),
  );
});

it("bytes may be reused once they are written, and are still resent as they were", () => {
  const outbox = new Outbox();
  const message = randomBytes(20_000);
  const expected = withLength(message);
  let isWritten = false;
  outbox.push(message, () => {
    isWritten = true;
  });
  sendAll(outbox);
  expect(isWritten).toBe(true);
  message.fill(0);
  link.resend(0, outbox.oldest!.record);
  expect(sent.map((record) => record.equals(expected))).toEqual([true, true]);
});
