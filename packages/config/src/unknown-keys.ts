import { parseKeyPath } from "@codex/toml";
import { distance } from "fastest-levenshtein";
import { KEY_BY_NAME } from "./keys.js";
import type { Layer } from "./layer.js";
import { describePlace, type Origin } from "./origin.js";
import { CONFIG_TABLE } from "./restrictions/config-rows.js";
import { findRow } from "./restrictions/find-restrictions.js";

/** Largest edit distance of a suggestion. */
const MAX_DISTANCE = 3;

/** A warning for each key that neither this project nor Codex has, as it is probably a typo. */
export const describeUnknownKeys = (unused: Layer["unused"]): string[] =>
  unused
    .filter(({ key, origin }) => !isRequired(origin) && findRow(CONFIG_TABLE, parseKeyPath(key) ?? [key]) === undefined)
    .map(({ key, origin }) => {
      const meant = findSimilar(key);
      const hint = meant === undefined ? "" : `; did you mean \`${meant}\`?`;
      return `${describePlace(origin)}: unknown key \`${key}\`${hint}`;
    });

/** What is not known there is an error. */
const isRequired = (origin: Origin): boolean => origin.kind === "file" && origin.layer === "requirements";

function findSimilar(key: string): string | undefined {
  const known = new Set([...KEY_BY_NAME.keys(), ...CONFIG_TABLE.rows.map((row) => row.key)]);
  const limit = Math.min(MAX_DISTANCE, Math.floor(key.length / 3));
  const near = [...known]
    .filter((name) => name.includes(".") === key.includes("."))
    .map((name) => ({ name, distance: distance(key, name) }))
    .filter(({ distance }) => distance <= limit);
  return near.sort((a, b) => a.distance - b.distance)[0]?.name;
}
