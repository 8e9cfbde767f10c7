import { type Channel, createMemoryChannelPair, Peer, type PeerOptions, type RequestContext } from "@codex/channel";
import { afterEach } from "vitest";

/** What the test of this file opened; closed after it. */
export const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** A peer, and the other end of its channel to script; both are closed after the test. */
export function scripted(options: PeerOptions = {}): { peer: Peer; far: Channel } {
  const [near, far] = createMemoryChannelPair();
  const peer = new Peer(near, options);
  open.push(peer, far);
  return { peer, far };
}

export const handlers = (table: Record<string, (params: unknown, context: RequestContext) => unknown>) =>
  new Map(Object.entries(table));

/** A promise with its handles. */
export function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

export const sendText = (far: Channel, text: string): Promise<void> => far.sendEncoded(Buffer.from(text));

/** Ends the far side and waits until the peer has seen everything before it. */
export async function drainAfter(far: Channel, peer: Peer): Promise<void> {
  await far.close();
  await peer.closed;
}
