import { type ConfigEdit, editUserConfig, tableAt } from "./edit-config.js";
import type { ConfiguredHook } from "./hooks/load-hooks.js";
import type { Project } from "./trust.js";

/**
 * Marks a project as trusted in the user's `config.toml`. `kept`: it already has a trust level, which is not changed; an untrusted one
 * stays untrusted.
 * @throws ConfigError when the file cannot be changed; it is left unchanged then
 */
export async function saveTrust(home: string, project: Pick<Project, "toMark" | "trust">): Promise<"saved" | "kept"> {
  if (project.trust !== undefined) return "kept";
  const table = ["projects", project.toMark];
  return editUserConfig(
    home,
    (known) =>
      tableAt(known, table)?.trust_level === undefined ? [{ table, key: "trust_level", value: "trusted" }] : [],
    "the project cannot be marked as trusted",
  );
}

/**
 * Marks hooks as trusted, as they are now, in the user's `config.toml`.
 * @throws ConfigError when the file cannot be changed; it is left unchanged then
 */
export const saveHookTrust = (home: string, hooks: readonly ConfiguredHook[]): Promise<"saved" | "kept"> =>
  editUserConfig(
    home,
    () =>
      hooks.map(
        ({ hook: { key, hash } }): ConfigEdit => ({ table: ["hooks", "state", key], key: "trusted_hash", value: hash }),
      ),
    "the hooks cannot be marked as trusted",
  );
