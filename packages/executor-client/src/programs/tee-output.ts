import type { LiveOutput } from "../connection/live-output.js";
import type { LiveOutputStream } from "./live-output-stream.js";

/** Receives each piece of live output, in order; a promise holds the program back until it settles. */
export type OnOutput = (output: LiveOutput) => unknown;

/** Delivers each piece to a stream, and to a callback where there is one. A callback alone is a reader as well. */
export function teeOutput(stream: LiveOutputStream, onOutput: OnOutput | undefined): OnOutput {
  if (onOutput === undefined) return (piece) => stream.push(piece);
  stream.stopHolding("while read");
  return (piece) => {
    const held = stream.push(piece);
    return held === undefined ? onOutput(piece) : waitForBoth(held, async () => onOutput(piece));
  };
}

/** A failure of one does not end the back-pressure of the other. */
async function waitForBoth(held: Promise<void>, call: () => Promise<unknown>): Promise<void> {
  const [, called] = await Promise.allSettled([held, call()]);
  if (called.status === "rejected") throw called.reason;
}
