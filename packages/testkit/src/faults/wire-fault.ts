import type { Random } from "../random.js";

/** The direction of bytes: `sent` from the client to the server, `received` back. */
export type Direction = "sent" | "received";

/** A fault of a connection after `afterBytes` more bytes have passed in a direction. */
export type WireFault = { direction: Direction; afterBytes: number } & (
  | { kind: "cut" /** Both ends see a broken connection, perhaps in the middle of a frame. */ }
  | {
      kind: "half_open" /** All traffic stops; after `ms` the client's end breaks, the server's never does. */;
      ms: number;
    }
  | { kind: "stall" /** Nothing passes in that direction for `ms`. */; ms: number }
  | { kind: "drip" /** The next `bytes` bytes pass in pieces of 1 to 7. */; bytes: number }
);

/** The faults of each connection, in order; connections beyond the last have none. */
export type WirePlan = readonly (readonly WireFault[])[];

/** Upper bounds of the bytes before a fault: handshakes have about 300 bytes, bursts a megabyte. */
const REACHES = [1, 60, 400, 2_000, 20_000, 400_000];

export function createWirePlan(random: Random, { halfOpen = true } = {}): WirePlan {
  return Array.from({ length: random.between(0, 5) }, () =>
    Array.from({ length: random.between(1, 3) }, () => createWireFault(random, halfOpen)),
  );
}

function createWireFault(random: Random, halfOpen: boolean): WireFault {
  const direction = random.pick(["sent", "received", "received"] as const);
  const afterBytes = random.between(0, random.pick(REACHES));
  const choice = random.between(1, 100);
  if (choice <= 60) return { kind: "cut", direction, afterBytes };
  if (choice <= 80) return { kind: "stall", direction, afterBytes, ms: random.between(1, 40) };
  if (choice <= 98 || !halfOpen) return { kind: "drip", direction, afterBytes, bytes: random.between(1, 2_000) };
  return { kind: "half_open", direction, afterBytes, ms: random.between(1, 40) };
}

export const describeWirePlan = (plan: WirePlan): string[] =>
  plan.map((faults, index) => `connection ${index + 1}: ${faults.map(describeWireFault).join(", then ")}`);

function describeWireFault(fault: WireFault): string {
  const what =
    fault.kind === "drip" ? `drip ${fault.bytes} bytes` : fault.kind === "cut" ? "cut" : `${fault.kind} ${fault.ms} ms`;
  return `${what} after ${fault.afterBytes} bytes ${fault.direction}`;
}
