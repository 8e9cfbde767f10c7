import { type Channel, createMemoryChannelPair, type Received } from "@codex/channel";
import { withoutBinary } from "./without-binary.js";

/** `sent`: from the connecting end to the serving end. */
export type Direction = "sent" | "received";

export interface Cut {
  direction: Direction;
  /** Counted from 1 over all connections. */
  message: number;
  /** Whether the message is still delivered. */
  delivered: boolean;
}

/** Relays messages between two ends, and breaks the connection at a message chosen by the test. */
export interface CuttingRelay {
  /** Messages so far, over all connections. */
  readonly counts: Readonly<Record<Direction, number>>;
  readonly connections: number;
  /** Opens a new connection, whose other end is served. */
  connect(): Channel;
  /** Breaks the connection that carries this message. */
  cutAt(cut: Cut): void;
  /** Breaks the current connections. */
  cutNow(): void;
  /** Stops all traffic of current connections, without notifying either end. */
  stall(): void;
  /** Calls `listener` with each message before it is relayed. */
  watch(listener: (direction: Direction, value: unknown) => void): void;
  close(): Promise<void>;
}

/** @param binary whether the channels support binary frames; a listener gets their heads */
export function createCuttingRelay(serve: (channel: Channel) => void, { binary = false } = {}): CuttingRelay {
  const counts = { sent: 0, received: 0 };
  const cuts: Cut[] = [];
  const open = new Set<{ ends: Channel[]; stalled: boolean }>();
  const listeners: ((direction: Direction, value: unknown) => void)[] = [];
  let connections = 0;

  const breakOff = (link: { ends: Channel[] }) => Promise.all(link.ends.map((end) => end.close()));
  const carry = async (
    from: Channel,
    to: Channel,
    direction: Direction,
    link: { ends: Channel[]; stalled: boolean },
  ) => {
    for (;;) {
      const received = await from.receive();
      if (received === undefined || received.kind === "malformed") break;
      if (link.stalled) continue;
      counts[direction] += 1;
      for (const listener of listeners) listener(direction, received.kind === "value" ? received.value : received.head);
      const cut = cuts.find((one) => one.direction === direction && one.message === counts[direction]);
      if (cut?.delivered !== false) await pass(received, to).catch(() => {});
      if (cut !== undefined) break;
    }
    await breakOff(link);
  };
  return {
    counts,
    get connections() {
      return connections;
    },
    connect() {
      connections += 1;
      const [near, a] = createMemoryChannelPair();
      const [b, far] = createMemoryChannelPair();
      const link = { ends: [a, b], stalled: false };
      open.add(link);
      if (binary) for (const end of [a, b]) end.binary?.accept();
      serve(far);
      void Promise.all([carry(a, b, "sent", link), carry(b, a, "received", link)]).then(() => open.delete(link));
      return binary ? near : withoutBinary(near);
    },
    cutAt(cut) {
      cuts.push(cut);
    },
    cutNow() {
      for (const link of open) void breakOff(link);
    },
    stall() {
      for (const link of open) link.stalled = true;
    },
    watch(listener) {
      listeners.push(listener);
    },
    async close() {
      await Promise.all([...open].map(breakOff));
    },
  };
}

/** Relays a received value. The channel must return each binary frame in one part. */
async function pass(received: Exclude<Received, { kind: "malformed" }>, to: Channel): Promise<void> {
  if (received.kind === "value") await to.send(received.value);
  else await to.binary?.send(received.head, received.bytes);
}
