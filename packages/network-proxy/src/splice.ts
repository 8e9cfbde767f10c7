import type { Duplex } from "node:stream";
import type { Clock } from "@codex/clock";
import { type Host, parseHost } from "@codex/network-policy";
import { readClientHello } from "./client-hello.js";
import { MAX_CLIENT_HELLO_BYTES, MAX_HEAD_MS } from "./limits.js";
import type { HostConnection } from "./pipeline.js";
import { readChunk } from "./read-chunk.js";

/**
 * Connects two streams until both directions have ended, each by itself; an error of one destroys both. Both must allow
 * half-open connections.
 *
 * @param isExpected decides by the client's first bytes whether they may be sent; what the host sends is not held up
 * @returns whether they were, once both streams are closed
 */
export async function splice(
  client: Duplex,
  { socket: host, sendTo }: Pick<HostConnection, "socket" | "sendTo">,
  isExpected: () => Promise<boolean>,
): Promise<boolean> {
  const closed = [client, host].map(
    (stream) => new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once("close", () => resolve()))),
  );
  endTogether(client, host);
  endTogether(host, client);
  sendTo(client);
  const may = await isExpected();
  if (may) client.pipe(host);
  else {
    client.destroy();
    host.destroy();
  }
  await Promise.all(closed);
  return may;
}

/** What was received before the end of a stream is still written to the other one, unless the stream broke. */
function endTogether(from: Duplex, to: Duplex): void {
  from.on("error", () => to.destroy());
  from.once("close", () => {
    if (!from.readableEnded) to.destroy();
  });
}

/**
 * Reads the first bytes of a client, as long as they are the beginning of a TLS handshake, and puts them back.
 * Other protocols, also those in which the host speaks first, are not held up.
 *
 * @returns whether the handshake names this host, names none, or is no handshake
 */
export async function checkServerName(client: Duplex, host: Host, clock: Pick<Clock, "after">): Promise<boolean> {
  const held: Buffer[] = [];
  let bytes = 0;
  let cancel: (() => void) | undefined;
  try {
    for (;;) {
      const chunk = await readChunk(client);
      if (chunk === undefined) return held.length === 0;
      held.push(chunk);
      bytes += chunk.length;
      cancel ??= clock.after(MAX_HEAD_MS, () => client.destroy());
      const hello = readClientHello(Buffer.concat(held));
      if (hello.kind === "other") return true;
      if (hello.kind === "hello") return hello.name === undefined || parseHost(hello.name)?.text === host.text;
      if (hello.kind === "invalid" || bytes > MAX_CLIENT_HELLO_BYTES) return false;
    }
  } finally {
    cancel?.();
    if (held.length > 0 && !client.destroyed) client.unshift(Buffer.concat(held));
  }
}
