import { distance } from "fastest-levenshtein";
import { CODEX_KEYS } from "./codex-keys.js";
import { KEY_BY_NAME } from "./keys.js";
import type { Layer } from "./layer.js";
import { describePlace } from "./origin.js";

/** Tables of which this project uses all keys; keys of other tables are not checked. */
const CHECKED_TABLES = ["sandbox_workspace_write", "shell_environment_policy", "audit"];

/** Keys of Codex in those tables that this project ignores. */
const IGNORED_KEYS = ["shell_environment_policy.experimental_use_profile"];

/** Largest edit distance of a suggestion. */
const MAX_DISTANCE = 3;

/** A warning for each key that neither this project nor Codex has, as it is probably a typo. */
export const describeUnknownKeys = (unused: Layer["unused"]): string[] =>
  unused
    .filter(({ key }) => isUnknown(key))
    .map(({ key, origin }) => {
      const meant = findSimilar(key);
      const hint = meant === undefined ? "" : `; did you mean \`${meant}\`?`;
      return `${describePlace(origin)}: unknown key \`${key}\`${hint}`;
    });

function isUnknown(key: string): boolean {
  const [top = ""] = key.split(".", 1);
  if (CHECKED_TABLES.includes(top)) return !IGNORED_KEYS.includes(key);
  return !CODEX_KEYS.has(top);
}

function findSimilar(key: string): string | undefined {
  const known = [...KEY_BY_NAME.keys(), ...(key.includes(".") ? [] : CODEX_KEYS)];
  const limit = Math.min(MAX_DISTANCE, Math.floor(key.length / 3));
  const near = known
    .map((name) => ({ name, distance: distance(key, name) }))
    .filter(({ distance }) => distance <= limit);
  return near.sort((a, b) => a.distance - b.distance)[0]?.name;
}
