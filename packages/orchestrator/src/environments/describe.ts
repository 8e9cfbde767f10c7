import { defined } from "@codex/values";
import type { Catalog, Outage } from "../catalog/catalog.js";
import type { Selection } from "../catalog/selection.js";
import type { Config } from "../config.js";
import { withoutUrlSecrets } from "../text.js";
import type { EnvironmentDescription } from "./environment.js";
import type { EnvironmentTable } from "./environment-table.js";

/** The environments of a turn, the primary first. */
export function describeEnvironments(
  catalog: Catalog,
  environments: Pick<EnvironmentTable, "describe">,
  config: Pick<Config, "cwd">,
  selection: Selection,
): EnvironmentDescription[] {
  const selected = new Map(selection?.map((one) => [one.id, one]));
  return catalog.names(selection).map((id, at) => {
    const executor = catalog.get(id);
    const cwd = selected.get(id)?.cwd ?? config.cwd ?? executor?.host?.cwd;
    return {
      id,
      primary: at === 0,
      ...(executor === undefined ? environments.describe(id) : describeState(catalog.findOutage(executor))),
      ...defined({ cwd }),
      ...(executor?.host === undefined ? {} : { shell: executor.host.shell.name, os: executor.host.os }),
    };
  });
}

function describeState(outage: Outage | undefined): { status: string; reason?: string } {
  return outage === undefined ? { status: "ready" } : { ...outage, reason: withoutUrlSecrets(outage.reason) };
}
