import { MAX_SHOWN_VALUE } from "./limits.js";
import { describeOrigin, type Origin } from "./origin.js";
import { HIDDEN } from "./secrets.js";

/** A setting is invalid. The message names the place, the key, the value and what is expected. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(
    message: string,
    /** `usage`: a flag of the command line is wrong, not a file. */
    readonly code: "invalid" | "usage" = "invalid",
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The error for an invalid value. `shown`: the value as the message quotes it. */
export function createValueError(origin: Origin, key: string, shown: string, expected: string): ConfigError {
  const code = origin.kind === "flag" ? "usage" : "invalid";
  return new ConfigError(`${describeOrigin(origin)}: \`${key}\` is ${shown}; expected ${expected}`, code);
}

/** A value for a message, roughly as in the file, shortened; one that may be a secret is hidden. */
export function renderValue(value: unknown, isSecret = false): string {
  if (isSecret) return HIDDEN;
  const text = JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? String(part) : part)) ?? String(value);
  return text.length <= MAX_SHOWN_VALUE ? text : `${text.slice(0, MAX_SHOWN_VALUE)}…`;
}
