import { type ConfiguredEnvironment, type EnvironmentsConfig, listIds } from "./config/environment-config.js";
import { listUrlSecrets, redact } from "./links/redact.js";

/** What a configuration says of an environment, without connecting it. */
export interface ListedEnvironment {
  id: string;
  kind: string;
  /** Nothing was connected; `local` is this process. */
  status: "ready" | "disconnected";
  /** Where it is, without secrets; undefined for this host. */
  target?: string;
  /** Where it is configured. */
  place?: string;
  fallback?: string;
}

/** All environments of a configuration, the default first. */
export function listConfigured(config: EnvironmentsConfig): ListedEnvironment[] {
  const byId = new Map(config.environments.map((each) => [each.id, each]));
  const all = [...(config.includeLocal ? ["local"] : []), ...byId.keys()];
  return (config.default === undefined ? all : listIds(config)).map((id) => {
    const configured = byId.get(id);
    if (configured === undefined) return { id, kind: "local", status: "ready" };
    const { kind, place, fallback } = configured;
    const target = describeTarget(configured);
    return { id, kind, status: "disconnected", target, place, ...(fallback === undefined ? {} : { fallback }) };
  });
}

/** Where an environment is, for a person; without secrets. */
function describeTarget(configured: ConfiguredEnvironment): string {
  switch (configured.kind) {
    case "websocket":
    case "ssh":
      return hideUrlSecrets(configured.url);
    case "command":
      // Its arguments may be secrets.
      return configured.program;
    case "noise":
      return `${configured.environmentId} at ${hideUrlSecrets(configured.registryUrl)}`;
  }
}

/** Codex takes any text of `CODEX_EXEC_SERVER_URL` for a URL. */
const hideUrlSecrets = (url: string): string => redact(url, listUrlSecrets(url));
