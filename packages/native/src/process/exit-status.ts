import { getSignalName } from "./signal-name.js";

/** How a child ended; a signal by its POSIX name. */
export type ExitStatus = { code: number } | { signal: string };

/** The status of waitpid(2): a signal in the lowest 7 bits, else the code in the next byte. */
export function parseStatus(status: number): ExitStatus {
  const signal = status & 0x7f;
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal: getSignalName(signal) };
}

/** Whether the child has not ended: a thread of this process that traces it has stopped it. */
export const isStopped = (status: number): boolean => (status & 0xff) === 0x7f;
