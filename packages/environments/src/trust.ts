import type { EnvironmentsConfig } from "./config/environment-config.js";
import { toNoiseAddress } from "./configured.js";
import { EnvironmentError } from "./errors.js";
import { openKnownExecutors } from "./links/known-executors.js";
import { trustExecutor } from "./links/noise.js";

/** The newly trusted executor. */
export interface TrustedExecutor {
  fingerprint: string;
  /** The previously trusted fingerprint, if any. */
  former: string | undefined;
}

/**
 * Pins the key of the executor of a configured environment behind a registry: its current one, or the given one.
 * @param file path of the file with the trusted keys
 * @throws EnvironmentError, LinkError
 */
export async function trustConfigured(
  config: EnvironmentsConfig,
  id: string,
  { file, fingerprint }: { file: string; fingerprint?: string | undefined },
): Promise<TrustedExecutor> {
  const found = config.environments.find((each) => each.id === id);
  if (found === undefined) throw new EnvironmentError("unknown_environment", id, "it is not configured");
  if (found.kind !== "noise")
    throw new EnvironmentError("unsupported", id, "it is not behind a registry: its executor has no key");
  return trustExecutor({ ...toNoiseAddress(found), known: openKnownExecutors(file) }, fingerprint);
}
