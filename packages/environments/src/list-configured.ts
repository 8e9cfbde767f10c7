import { defined } from "@codex/values";
import {
  type ConfiguredEnvironment,
  type ConfiguredNoise,
  type EnvironmentsConfig,
  listIds,
} from "./config/environment-config.js";
import { listUrlSecrets, redact } from "./links/redact.js";

/** A configured environment, described without connecting it. */
export interface ListedEnvironment {
  id: string;
  kind: string;
  /** `ready` only for `local`, which is this process; nothing is connected. */
  status: "ready" | "disconnected";
  /** Its address, without secrets; undefined for this host. */
  target?: string;
  /** Where it is configured. */
  place?: string;
  fallback?: string;
}

/** All configured environments, the default first. */
export function listConfigured(config: EnvironmentsConfig): ListedEnvironment[] {
  const byId = new Map(config.environments.map((each) => [each.id, each]));
  const all = [...(config.includeLocal ? ["local"] : []), ...byId.keys()];
  return (config.default === undefined ? all : listIds(config)).map((id) => {
    const configured = byId.get(id);
    if (configured === undefined) return { id, kind: "local", status: "ready" };
    const { kind, place, fallback } = configured;
    const target = describeTarget(configured);
    return { id, kind, status: "disconnected", target, place, ...defined({ fallback }) };
  });
}

/** The address of an environment for display, without secrets. */
function describeTarget(configured: ConfiguredEnvironment): string {
  switch (configured.kind) {
    case "websocket":
    case "ssh":
      return hideUrlSecrets(configured.url);
    case "command":
      // Arguments are omitted: they may be secret.
      return configured.program;
    case "noise":
      return `${describeWanted(configured)} at ${hideUrlSecrets(configured.registryUrl)}`;
  }
}

const describeWanted = ({ environmentId, labels = {} }: ConfiguredNoise): string =>
  [environmentId, ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)].filter(Boolean).join(" ");

/** `CODEX_EXEC_SERVER_URL` may be any text, as in Codex. */
const hideUrlSecrets = (url: string): string => redact(url, listUrlSecrets(url));
