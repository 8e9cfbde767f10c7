import { posix } from "node:path";
import { MAX_PROGRAM_NAME_LENGTH } from "./limits.js";

/** Name of a program for logs and spans, without its directory, which may contain a user name. */
export const getProgramName = (argv: readonly string[]): string =>
  posix.basename(argv[0] ?? "").slice(0, MAX_PROGRAM_NAME_LENGTH);
