import { distance } from "fastest-levenshtein";
import { CODEX_KEYS } from "./codex-keys.js";
import { KEY_BY_NAME } from "./keys.js";
import type { Layer } from "./layer.js";
import { describePlace } from "./origin.js";

/** Tables whose keys are all read here; of other tables only Codex knows the keys. */
const READ_WHOLE = ["sandbox_workspace_write", "shell_environment_policy", "audit"];

/** Keys of Codex in those, which are not read here. */
const PASSED_OVER = ["shell_environment_policy.experimental_use_profile"];

/** Largest edit distance of a suggestion. */
const MAX_DISTANCE = 3;

/** A warning for each key that neither this program nor Codex has: a typo would otherwise be ignored in silence. */
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
  if (READ_WHOLE.includes(top)) return !PASSED_OVER.includes(key);
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
