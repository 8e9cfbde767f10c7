import { type Channel, ChannelError, type Received } from "@codex/channel";
import { expect } from "vitest";

export async function nextValue(channel: Channel): Promise<unknown> {
  const received = await channel.receive();
  if (received?.kind !== "value") throw new Error(`expected a value, got ${JSON.stringify(received)}`);
  return received.value;
}

/** Receives a binary frame with its whole body. */
export async function nextFrame(channel: Channel): Promise<{ head: Buffer; body: Buffer }> {
  const parts: Buffer[] = [];
  for (let at = 0; ; at += parts.at(-1)!.length) {
    const received = await channel.receive();
    if (received?.kind !== "bytes") throw new Error(`expected a binary frame, got ${JSON.stringify(received)}`);
    expect(received.at).toBe(at);
    parts.push(received.bytes);
    if (received.isLast) return { head: received.head, body: Buffer.concat(parts) };
  }
}

export async function drain(channel: Channel): Promise<Received[]> {
  const all: Received[] = [];
  for (let next = await channel.receive(); next !== undefined; next = await channel.receive()) all.push(next);
  return all;
}

export async function expectRejection(promise: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ChannelError);
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves once a counter has not changed for many turns of the event loop. Resolving too early weakens a test, but never fails it. */
export async function untilStill(read: () => number): Promise<void> {
  let last = -1;
  for (let still = 0; still < 20_000; still++) {
    if (read() !== last) still = 0;
    last = read();
    await turn();
  }
}
