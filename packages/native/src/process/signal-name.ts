import { constants } from "node:os";

/** POSIX name of a signal number, such as `SIGKILL` for 9; `SIG64` for one without a name. */
export function getSignalName(number: number): string {
  const known = Object.entries(constants.signals).find(([, value]) => value === number);
  return known?.[0] ?? `SIG${number}`;
}

/** The number of what `getSignalName` returns; undefined for other names. */
export function getSignalNumber(name: string): number | undefined {
  const known = (constants.signals as Readonly<Record<string, number>>)[name];
  return known ?? (/^SIG\d+$/.test(name) ? Number(name.slice(3)) : undefined);
}
