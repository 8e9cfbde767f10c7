import type { Catalog } from "../catalog/catalog.js";
import { type AttachedExecutor, describeExecutor } from "../executors/attached-executor.js";
import type { EnvironmentTable } from "./environment-table.js";

/** An environment with its executor attached, or why it cannot be used. `notice`: it is the configured fallback of the requested one. */
export type ConnectedEnvironment =
  | { kind: "connected"; executor: AttachedExecutor; notice?: string }
  | { kind: "failed"; reason: string };

interface Context {
  catalog: Pick<Catalog, "get">;
  environments: Pick<EnvironmentTable, "has" | "connect" | "fallbackOf">;
}

/** Attaches the executor of an environment, as a call there would. Never rejects. */
export async function connectEnvironment(
  id: string,
  context: Context,
  signal: AbortSignal | undefined,
): Promise<ConnectedEnvironment> {
  const first = await attach(id, context, signal);
  const fallback = context.environments.fallbackOf(id);
  if (first.kind === "connected" || fallback === undefined || signal?.aborted) return first;
  const second = await attach(fallback, context, signal);
  if (second.kind === "failed") {
    return { kind: "failed", reason: `${first.reason}. Its fallback cannot be used either: ${second.reason}` };
  }
  const notice = `environment \`${id}\` cannot be used (${first.reason}); this was done in \`${fallback}\`, its configured fallback`;
  return { ...second, notice };
}

async function attach(
  id: string,
  { catalog, environments }: Context,
  signal: AbortSignal | undefined,
): Promise<ConnectedEnvironment> {
  const known = catalog.get(id);
  if (known !== undefined && known.offlineReason === undefined) {
    return { kind: "connected", executor: describeExecutor(known) };
  }
  const failed = (reason: string) => ({ kind: "failed" as const, reason });
  if (!environments.has(id)) return failed(known?.offlineReason ?? `there is no environment \`${id}\``);
  const connected = await environments.connect(id, signal);
  if (connected.kind === "failed") return failed(connected.reason);
  if (connected.kind === "aborted") return failed("connecting was cancelled");
  const attached = catalog.get(id);
  if (attached === undefined) return failed("it was attached, but is no longer connected");
  return { kind: "connected", executor: describeExecutor(attached) };
}
