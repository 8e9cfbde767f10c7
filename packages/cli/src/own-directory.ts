import { resolve } from "node:path";
import { CommandError, EXIT } from "./exit-codes.js";
import { WITHOUT_DIRECTORY } from "./report-error.js";

/** The directory in which a program starts on this host, absolute: the given one, else the current one. @throws CommandError */
export function resolveDirectory(given = ""): string {
  try {
    return resolve(given);
  } catch (cause) {
    throw new CommandError(`the command was not run: ${WITHOUT_DIRECTORY}`, EXIT.notStarted, { cause });
  }
}
