import { constants } from "node:os";

/** POSIX name of a signal number, such as `SIGKILL` for 9; `SIG64` for one without a name. */
export function getSignalName(number: number): string {
  const known = Object.entries(constants.signals).find(([, value]) => value === number);
  return known?.[0] ?? `SIG${number}`;
}
