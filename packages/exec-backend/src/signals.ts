import { constants } from "node:os";

/** Number of a signal name; undefined where this host does not have the signal. */
export const getSignalNumber = (name: string): number | undefined =>
  (constants.signals as Record<string, number>)[name]; // the type lists the names of every platform

/** Exit code as shells show it: the code, or 128 + the number of the signal. */
export function getExitCode(outcome: { kind: string; code?: number; signal?: string }): number | undefined {
  if (outcome.kind === "exited") return outcome.code;
  if (outcome.kind !== "signaled" || outcome.signal === undefined) return undefined;
  const number = getSignalNumber(outcome.signal) ?? Number(outcome.signal.replace(/^SIG/, ""));
  return Number.isInteger(number) ? 128 + number : undefined;
}
