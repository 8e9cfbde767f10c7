import {
  createCommandLink,
  createRemoteEnvironment,
  createWebSocketLink,
  type Environment,
  type EnvironmentLink,
  type HostTools,
  SSH_RECOVERY_MS,
} from "@codex/environments";
import { createHostTools } from "@codex/executor";
import { type Credentials, withoutNodeOptions } from "@codex/servers";
import { type ExecutorAddress, toUrl } from "./executor-address.js";
import { createOwnSshLink } from "./ssh-host.js";

/** An address that is given on the command line, as an environment. The caller closes it, unless it ends with the channel of its tools. */
export function createAddressEnvironment(
  id: string,
  address: ExecutorAddress,
  credentials: Credentials,
  { endsWithTools = false }: { endsWithTools?: boolean } = {},
): Environment {
  const kind = address.kind === "unix" ? "websocket" : address.kind;
  const link = createLink(address, credentials);
  const ssh = address.kind === "ssh" ? { cwd: address.address.cwd, recoveryWindowMs: SSH_RECOVERY_MS } : {};
  const end = endsWithTools ? { close: () => environment.close() } : {};
  const start = createHostTools();
  const hostTools: HostTools = (host) => start({ ...host, ...end });
  const environment = createRemoteEnvironment({ id, kind, link, hostTools, ...ssh });
  return environment;
}

function createLink(address: ExecutorAddress, credentials: Credentials): EnvironmentLink {
  if (address.kind === "ssh") return createOwnSshLink(address.address);
  if (address.kind !== "command") return createWebSocketLink({ url: toUrl(address), ...credentials });
  // The user's own command line, parsed by a shell.
  const env = withoutNodeOptions();
  return createCommandLink({ program: "/bin/sh", args: ["-c", address.line], hostEnv: env, inherit: Object.keys(env) });
}
