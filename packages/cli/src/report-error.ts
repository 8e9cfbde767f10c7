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
  if (isWithoutDirectory(error)) {
    write(WITHOUT_DIRECTORY);
    return EXIT.failure;
  }
  const text = error instanceof Error ? (process.env.CODEX_DEBUG ? error.stack : error.message) : String(error);
  write(text ?? "");
  return EXIT.failure;
}

/** Whether it is the error of `process.cwd()`. */
const isWithoutDirectory = (error: unknown): boolean =>
  error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";

export const WITHOUT_DIRECTORY = "the current directory was removed, or its path is too long; change to another one";

/** The text contains names and values from elsewhere: what would control a terminal is escaped. */
const write = (text: string): boolean => process.stderr.write(`codex: ${visible(text)}\n`);
