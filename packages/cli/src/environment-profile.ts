import type { ConfigFlags } from "@codex/config";
import { areEnvironmentsConfigured, type ConnectOptions } from "./connect.js";
import { EXIT } from "./exit-codes.js";

/** The environment of a command. */
export type EnvironmentChoice = Partial<Pick<ConnectOptions, "executor" | "registry" | "environment">>;

/**
 * The permission profile that environments-ts.toml names for the environment of a command, or for another one.
 * @throws CommandError for a configuration of environments that is invalid
 */
export async function findEnvironmentProfile({
  executor,
  registry,
  environment,
}: EnvironmentChoice): Promise<ConfigFlags["environmentProfile"]> {
  if (executor !== undefined || registry !== undefined || !areEnvironmentsConfigured()) return undefined;
  const { loadChecked } = await import("./configured-environments.js");
  const { environments, default: standard } = await loadChecked(EXIT.failure);
  return environments.find(({ id }) => id === (environment ?? standard))?.permissionProfile;
}
