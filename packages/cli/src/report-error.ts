import { ConfigError } from "@codex/config";
import { CommandError, EXIT } from "./exit-codes.js";

/** Prints an error for the person at the shell; returns the exit code. */
export function reportError(error: unknown): number {
  if (error instanceof CommandError) {
    process.stderr.write(`codex: ${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof ConfigError) {
    process.stderr.write(`codex: ${error.message}\n`);
    return error.code === "usage" ? EXIT.usage : EXIT.failure;
  }
  const text = error instanceof Error ? (process.env.CODEX_DEBUG ? error.stack : error.message) : String(error);
  process.stderr.write(`codex: ${text}\n`);
  return EXIT.failure;
}
