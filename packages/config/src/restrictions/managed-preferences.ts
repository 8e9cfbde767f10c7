import { ConfigError } from "../config-error.js";
import { readIfPresent } from "./read-if-present.js";

/** Largest file of preferences that is searched, in bytes. */
const MAX_PREFERENCES_BYTES = 4 * 1024 * 1024;

/** Keys under which Codex looks for configuration and requirements in the preferences of macOS that an administrator manages. */
const KEYS = ["requirements_toml_base64", "config_toml_base64"];

/** @throws ConfigError for preferences with one of these keys, or that cannot be read: what they require would not hold */
export async function refuseManagedPreferences(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const key = await findKey(file);
    if (key === undefined) continue;
    throw new ConfigError(
      `${file}: \`${key}\` is not supported here, so that what it requires would not hold; /etc/codex/requirements.toml can require the same`,
    );
  }
}

/** In both formats of such files the keys are plain text. */
async function findKey(file: string): Promise<string | undefined> {
  try {
    const bytes = await readIfPresent(file, MAX_PREFERENCES_BYTES);
    return KEYS.find((key) => bytes?.includes(key));
  } catch (error) {
    throw new ConfigError(`${file}: cannot be read, and may require something: ${String(error)}`, "invalid", {
      cause: error,
    });
  }
}
