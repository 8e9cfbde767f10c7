import { constants } from "node:fs";
import { join } from "node:path/posix";
import { isAllowed } from "./profile/host-files.js";

/** A program of the system, where distributions install it; undefined where there is none. */
export const findSystemProgram = (name: string): string | undefined =>
  ["/usr/bin", "/bin"].map((directory) => join(directory, name)).find((path) => isAllowed(path, constants.X_OK));
