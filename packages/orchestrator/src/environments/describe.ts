import type { ExecutorConnection } from "@codex/executor-client";
import type { Catalog } from "../catalog/catalog.js";
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
  return catalog.names(selection).map((id, at) => {
    const executor = catalog.get(id);
    const cwd = selection?.find((one) => one.id === id)?.cwd ?? config.cwd ?? executor?.host?.cwd;
    return {
      id,
      primary: at === 0,
      ...(executor === undefined ? environments.describe(id) : describeState(executor)),
      ...(cwd === undefined ? {} : { cwd }),
      ...(executor?.host === undefined ? {} : { shell: executor.host.shell.name, os: executor.host.os }),
    };
  });
}

function describeState({ offlineReason, lostReason }: ExecutorConnection): { status: string; reason?: string } {
  if (offlineReason !== undefined) return { status: "failed", reason: withoutUrlSecrets(offlineReason) };
  if (lostReason !== undefined) return { status: "reconnecting", reason: withoutUrlSecrets(lostReason) };
  return { status: "ready" };
}
