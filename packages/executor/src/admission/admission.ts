import type { ExecBackend, HostSandbox } from "@codex/exec-backend";
import type { ExecCommandRequest, ExecGate, SandboxSupport } from "@codex/executor-protocol";
import { widenSandbox } from "@codex/permissions";
import type { ApprovalLedger } from "./approval-ledger.js";
import type { CeilingGuard } from "./ceiling.js";

type GateRule = ExecGate["rules"][number];

export interface AdmissionOptions {
  backend: Pick<ExecBackend, "getSandboxSupport">;
  /** Undefined for none. */
  ceiling: CeilingGuard | undefined;
  approvals: ApprovalLedger;
}

/** Decides which commands this executor may start, for any orchestrator. It never chooses a sandbox, and never omits one. */
export interface Admission {
  /** For `initialize`; undefined if the backend reports no sandbox support and there is no ceiling. */
  describe(): Promise<SandboxSupport | undefined>;
  /** Why a request must not run here, and what would have to change; undefined if it may run. Never rejects. */
  getRefusal(request: ExecCommandRequest): Promise<string | undefined>;
  /** The gate of a request, whose programs leave its sandbox only as far as the ceiling allows. Never rejects. */
  limitGate(request: ExecCommandRequest): Promise<ExecGate | undefined>;
}

export function createAdmission({ backend, ceiling, approvals }: AdmissionOptions): Admission {
  let known: HostSandbox | undefined;
  // Without a sandbox it is asked again: what was short while one was tried may be there now.
  const getSupport = async () => {
    if (known !== undefined) return known;
    const found = (await backend.getSandboxSupport?.()) ?? NO_SUPPORT;
    if (found.kind !== "none") known = found;
    return found;
  };
  return {
    async describe() {
      if (backend.getSandboxSupport === undefined && ceiling === undefined) return undefined;
      const { expected, ...support } = await getSupport();
      // An orchestrator remembers it, but a shortage of resources may pass; commands are refused until then.
      const found = expected === undefined ? support : { kind: expected };
      return ceiling === undefined ? found : { ...found, ceiling: await ceiling.getCeiling() };
    },
    async getRefusal(request) {
      const unapproved = findUnapproved(request);
      if (unapproved !== undefined) return unapproved;
      const refusal = findNoSandbox(request) ?? (await findUnsupported(request, getSupport));
      if (refusal !== undefined) return `${refusal}; the command was not run`;
      if (ceiling !== undefined && (request.network?.routes ?? []).length > 0)
        return `this executor does not allow it: ${ROUTES_EXCEED}; the command was not run`;
      const excess = await ceiling?.findExcess(withReach(request));
      if (excess !== undefined) return `this executor does not allow it: ${excess}; the command was not run`;
      const unusable = approvals.bind(request);
      return unusable === undefined ? undefined : `${unusable}; the command was not run`;
    },
    async limitGate({ execGate: gate, cwd, sandbox }) {
      if (gate === undefined || ceiling === undefined || sandbox === undefined || sandbox === null) return gate;
      const limit = async (rule: GateRule): Promise<GateRule> => {
        if (rule.place.kind === "inside") return rule;
        const widened = widenSandbox(sandbox, rule.place.profile);
        const excess = await ceiling.findExcess({ cwd, ...(widened === null ? {} : { sandbox: widened }) });
        return excess === undefined ? rule : { ...rule, place: { kind: "inside" } };
      };
      return { ...gate, rules: await Promise.all(gate.rules.map(limit)) };
    },
  };
}

/** Otherwise whoever asks for a route could have any file of this host sent somewhere. */
const ROUTES_EXCEED = "routes with secrets are not taken where a ceiling is set";

/** Hosts that a managed network reaches are reached by the command. */
function withReach(request: ExecCommandRequest): ExecCommandRequest {
  const { sandbox, network } = request;
  if (network === undefined || sandbox?.permissions.type !== "managed") return request;
  return { ...request, sandbox: { ...sandbox, permissions: { ...sandbox.permissions, network: "enabled" } } };
}

const NO_SUPPORT: HostSandbox = { kind: "none", problem: "the host where it runs commands has no sandbox" };

function findUnapproved({ execApprovalRequirement: requirement }: ExecCommandRequest): string | undefined {
  if ("forbidden" in requirement) {
    return `the command is forbidden and was not run: ${requirement.forbidden.reason}`;
  }
  if (!("needsApproval" in requirement)) return undefined;
  const { reason } = requirement.needsApproval;
  return `the command needs approval and was not run${reason === null ? "" : `: ${reason}`}; it runs once it was approved`;
}

function findNoSandbox({ sandbox, sandboxPermissions, execApprovalRequirement }: ExecCommandRequest) {
  if (sandboxPermissions !== "with_additional_permissions") return undefined;
  const bypasses = "skip" in execApprovalRequirement && execApprovalRequirement.skip.bypassSandbox;
  if (bypasses || (sandbox !== undefined && sandbox !== null)) return undefined;
  return "the request asks for additional permissions, which have no meaning without a sandbox, and it names no sandbox";
}

/** A sandbox that cannot be enforced is refused; the command never runs without it. */
async function findUnsupported({ sandbox, network }: ExecCommandRequest, getSupport: () => Promise<HostSandbox>) {
  if (sandbox === undefined || sandbox === null || sandbox.permissions.type === "disabled") {
    return network === undefined ? undefined : "the request has a managed network, which only a sandbox can hold";
  }
  const { kind, problem } = await getSupport();
  if (kind !== "none") return undefined;
  return `the request names a sandbox, which this executor cannot apply${problem === undefined ? "" : `: ${problem}`}`;
}
