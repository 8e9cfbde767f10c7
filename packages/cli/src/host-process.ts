import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

/** Not process.stdout for a pipe: that writes synchronously there, and a peer that does not read would stop everything. */
export function openStdout(): Writable {
  const info = fstatSync(1);
  return info.isFIFO() || info.isSocket() ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout;
}

/** Calls back at the first signal that asks for an end; a second one is not held back. Returns what undoes it. */
export function onStopSignal(stop: () => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const off = () => {
    for (const signal of signals) process.off(signal, handler);
  };
  const handler = () => {
    off();
    stop();
  };
  for (const signal of signals) process.on(signal, handler);
  return off;
}
