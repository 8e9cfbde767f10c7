import { dirname, join } from "node:path";
import { readPlainFileSync } from "@codex/plain-file";
import { MAX_TOML_FILE_BYTES } from "@codex/toml";
import { codexHome } from "./codex-home.js";

/**
 * Whether a `config.toml` of this host, of the user, or of this directory or a parent contains this word: without it the key is not set, and
 * no file needs to be parsed. For commands that must start quickly.
 */
export const mentionsKey = (key: string): boolean =>
  ["/etc/codex", codexHome(), ...listAbove(process.cwd()).map((directory) => join(directory, ".codex"))].some(
    (directory) => hasWord(join(directory, "config.toml"), key),
  );

function listAbove(directory: string): string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [directory, ...listAbove(above)];
}

function hasWord(file: string, word: string): boolean {
  try {
    return readPlainFileSync(file, { maxBytes: MAX_TOML_FILE_BYTES }).includes(word);
  } catch {
    // Parsing it will report the problem.
    return false;
  }
}
