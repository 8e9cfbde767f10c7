import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codexHome } from "./codex-home.js";

/**
 * Whether a `config.toml` of this host, of the user or of a directory around this one has this word: without it there is no such key, and
 * nothing needs to be read properly. For commands whose start counts.
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
    return readFileSync(file, "latin1").includes(word);
  } catch {
    // Reading it properly says what is wrong with it.
    return false;
  }
}
