import type { HostQuestion, Sandbox } from "@codex/executor-protocol";
import { digestQuestion } from "../approvals/binding.js";
import type { Evaluation } from "./decision.js";
import { createOwnRequest } from "./own-request.js";
import type { DecidePorts } from "./ports.js";

/** A host that a running command wants to reach: its connection waits. */
export interface HostDeed extends HostQuestion {
  /** Name of the environment as shown to the approver. */
  readonly environment: string;
  /** The command, and the sandbox in which it runs; null for none. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly sandbox: Sandbox | null;
}

/** Asked whatever else the policy says; an answer is for this command, and one for the session for this host and port. */
export function evaluateHost(
  { environment, host, port, protocol, command, cwd, sandbox }: HostDeed,
  { newId }: Pick<DecidePorts, "newId">,
): Evaluation<undefined> {
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const reason = `the running command wants to reach ${place} (${PROTOCOLS[protocol]}), which no rule allows`;
  const cause = { kind: "host", host, port } as const;
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
  });
  return {
    requirement: { kind: "needsApproval", reason, cause, asking: null },
    outcome: {
      kind: "ask",
      terms: undefined,
      reason,
      question: {
        request,
        keys: [JSON.stringify(["host", environment, host, port])],
        digest: digestQuestion(request),
      },
    },
  };
}

const PROTOCOLS: Readonly<Record<HostQuestion["protocol"], string>> = {
  http: "plain HTTP",
  connect: "through the proxy",
  socks5: "through the proxy",
  direct: "directly",
};
