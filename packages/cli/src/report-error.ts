import { CommandError, EXIT } from "./exit-codes.js";

/** Prints an error for the person at the shell; returns the exit code. */
export function reportError(error: unknown): number {
  if (error instanceof CommandError) {
    process.stderr.write(`codex: ${error.message}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (process.env.CODEX_DEBUG ? error.stack : error.message) : String(error);
  process.stderr.write(`codex: ${text}\n`);
  return EXIT.failure;
}
