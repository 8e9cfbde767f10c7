import { CommandError, SERVER_EXIT } from "./command-error.js";

/** Whether this names stdin and stdout instead of an address. */
export const isStdio = (listen: string): boolean => listen === "stdio" || listen === "stdio://";

/** Refuses what stdio would ignore. @param options of a listener, by their flags @throws CommandError */
export function refuseOnStdio(options: Readonly<Record<string, unknown>>): void {
  const [flag] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
  if (flag !== undefined) throw new CommandError(`${flag} is for a listener; stdio does not use it`, SERVER_EXIT.usage);
}
