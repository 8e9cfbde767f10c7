import { visible } from "@codex/agent-terminal/text";
import { ConfigError } from "@codex/config";
import { CommandError, EXIT } from "./exit-codes.js";

/** Prints an error for the person at the shell; returns the exit code. */
export function reportError(error: unknown): number {
  if (error instanceof CommandError) {
    write(error.message);
    return error.exitCode;
  }
  if (error instanceof ConfigError) {
    write(error.message);
    return error.code === "usage" ? EXIT.usage : EXIT.failure;
  }
  const text = error instanceof Error ? (process.env.CODEX_DEBUG ? error.stack : error.message) : String(error);
  write(text ?? "");
  return EXIT.failure;
}

/** The text contains names and values from elsewhere: what would control a terminal is escaped. */
const write = (text: string): boolean => process.stderr.write(`codex: ${visible(text)}\n`);
