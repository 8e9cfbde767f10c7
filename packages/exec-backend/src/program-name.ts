import { posix } from "node:path";
import { MAX_PROGRAM_NAME_LENGTH } from "./limits.js";

/** Of a command, for logs and spans: its directory may say who uses it. */
export const getProgramName = (argv: readonly string[]): string =>
  posix.basename(argv[0] ?? "").slice(0, MAX_PROGRAM_NAME_LENGTH);
