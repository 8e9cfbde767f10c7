import type { HostQuestion, Sandbox } from "@codex/executor-protocol";
import type { AllowHostRule } from "@codex/policy";
import type { Evaluation } from "./decision.js";
import { ALLOWED_SINCE, askOwn, createOwnRequest } from "./own-request.js";
import type { DecidePorts, Ruling } from "./ports.js";

/** A host that a running command wants to reach: its connection waits. */
export interface HostDeed extends HostQuestion {
  /** Name of the environment as shown to the approver. */
  readonly environment: string;
  /** The command, and the sandbox in which it runs; null for none. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly sandbox: Sandbox | null;
}

/** Asked whatever else the policy says; an answer is for this command, one for the session for this host and port, and a saved rule for the host. */
export function evaluateHost(
  { environment, host, port, protocol, command, cwd, sandbox }: HostDeed,
  { rules }: Pick<Ruling, "rules">,
  { newId }: Pick<DecidePorts, "newId">,
): Evaluation<undefined> {
  if (rules.hasSaved(host)) return ALLOWED_SINCE;
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const reason = `the running command wants to reach ${place} (${PROTOCOLS[protocol]}), which no rule allows`;
  const cause = { kind: "host", host, port, protocol: toRuleProtocol(protocol, port) } as const;
  const request = createOwnRequest({
    id: newId(),
    toolName: "exec_command",
    environment,
    command,
    cwd,
    reason,
    cause,
    sandboxPermissions: "use_default",
    sandbox,
    canSave: rules.canSaveHost(host),
  });
  return askOwn(request, [JSON.stringify(["host", environment, host, port])]);
}

const toRuleProtocol = (protocol: HostQuestion["protocol"], port: number): AllowHostRule["protocol"] => {
  if (protocol === "http") return "http";
  return protocol === "connect" || (protocol === "direct" && port === 443) ? "https" : "socks5_tcp";
};

const PROTOCOLS: Readonly<Record<HostQuestion["protocol"], string>> = {
  http: "plain HTTP",
  connect: "through the proxy",
  socks5: "through the proxy",
  direct: "directly",
};
