import type { Duplex } from "node:stream";
import type { Direction, WireFault } from "./wire-fault.js";

export interface RelayEnds {
  /** Towards the client. */
  client: Duplex;
  /** Towards the server. */
  server: Duplex;
}

export interface RelayOptions {
  faults: readonly WireFault[];
  /** Breaks one end. A reset is worse for its reader than an end, as unread bytes are lost. */
  breakWire(end: Duplex): void;
  note(text: string): void;
}

/**
 * Relays bytes between two ends until one has ended, with the planned faults. Owns both ends. Faults happen in order: the bytes
 * of a fault count from the previous one.
 */
export function relay({ client, server }: RelayEnds, { faults, breakWire, note }: RelayOptions): void {
  const queue = [...faults];
  let passed = 0;
  let dead = false;
  const lanes: Record<Direction, { from: Duplex; to: Duplex; dripBytes: number; stalled: boolean }> = {
    sent: { from: client, to: server, dripBytes: 0, stalled: false },
    received: { from: server, to: client, dripBytes: 0, stalled: false },
  };
  const breakBoth = () => {
    dead = true;
    breakWire(client);
    breakWire(server);
  };
  const act = (fault: WireFault) => {
    queue.shift();
    passed = 0;
    note(`${fault.kind} ${fault.direction}`);
    const lane = lanes[fault.direction];
    switch (fault.kind) {
      case "cut":
        // Bytes that have passed arrive first.
        dead = true;
        lane.to.write("", breakBoth);
        break;
      case "half_open":
        dead = true;
        client.pause();
        server.pause();
        setTimeout(() => breakWire(client), fault.ms).unref();
        break;
      case "stall":
        lane.stalled = true;
        lane.from.pause();
        setTimeout(() => {
          lane.stalled = false;
          if (!dead) lane.from.resume();
        }, fault.ms);
        break;
      case "drip":
        lane.dripBytes = fault.bytes;
        break;
    }
  };
  const pass = (direction: Direction, bytes: Buffer) => {
    const lane = lanes[direction];
    for (let at = 0; at < bytes.length && !dead; ) {
      const fault = queue[0]?.direction === direction ? queue[0] : undefined;
      const piece = lane.dripBytes > 0 ? 1 + (at % 7) : bytes.length - at;
      const size = Math.min(piece, bytes.length - at, fault === undefined ? piece : fault.afterBytes - passed);
      if (fault !== undefined && size <= 0) {
        act(fault);
        // The remaining bytes wait for the end of the stall.
        if (lane.stalled) return lane.from.unshift(bytes.subarray(at));
        continue;
      }
      if (fault !== undefined) passed += size;
      lane.dripBytes = Math.max(0, lane.dripBytes - size);
      if (!lane.to.write(bytes.subarray(at, at + size)) && !lane.from.isPaused()) {
        lane.from.pause();
        lane.to.once("drain", () => {
          if (!dead && !lane.stalled) lane.from.resume();
        });
      }
      at += size;
    }
  };
  for (const direction of ["sent", "received"] as const) {
    const { from, to } = lanes[direction];
    from.on("data", (bytes: Buffer) => pass(direction, bytes));
    from.on("end", () => {
      if (!dead) to.end();
    });
    from.on("error", () => {});
    from.once("close", () => {
      // The server's end of a half-open connection stays open.
      if (!dead) to.destroy();
    });
  }
}
