import { renderKeyPath } from "@codex/toml";
import { ConfigError } from "../config-error.js";
import { describePlace, type Origin } from "../origin.js";
import type { Source } from "../source.js";
import { CONFIG_TABLE } from "./config-rows.js";
import { findRestrictions, type Restriction } from "./find-restrictions.js";

/** @throws ConfigError for the first setting that restricts in Codex and is not enforced here */
export function refuseRestrictions({ table, locate }: Source): void {
  const [found] = findRestrictions(CONFIG_TABLE, table).refused;
  if (found === undefined) return;
  const origin = locate(found.path);
  const goOn = found.row.instead ?? "remove it to go on without what it restricts";
  throw createRestrictionError(origin, found, goOn);
}

export function createRestrictionError(
  origin: Origin,
  { path, row }: Pick<Restriction, "path" | "row">,
  goOn: string,
): ConfigError {
  const key = renderKeyPath(path);
  return new ConfigError(
    `${describePlace(origin)}: \`${key}\` restricts in Codex and is not supported here: ${row.why}; ${goOn}`,
    origin.kind === "flag" ? "usage" : "invalid",
  );
}
