import type { ExecBackend } from "@codex/exec-backend";
import type { ExecCommandRequest, SandboxSupport } from "@codex/executor-protocol";
import type { ApprovalLedger } from "./approval-ledger.js";
import type { CeilingGuard } from "./ceiling.js";

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
}

export function createAdmission({ backend, ceiling, approvals }: AdmissionOptions): Admission {
  let support: Promise<SandboxSupport> | undefined;
  const getSupport = () => {
    support ??= backend.getSandboxSupport?.() ?? Promise.resolve(NO_SUPPORT);
    return support;
  };
  return {
    async describe() {
      if (backend.getSandboxSupport === undefined && ceiling === undefined) return undefined;
      const found = await getSupport();
      return ceiling === undefined ? found : { ...found, ceiling: await ceiling.getCeiling() };
    },
    async getRefusal(request) {
      const unapproved = findUnapproved(request);
      if (unapproved !== undefined) return unapproved;
      const refusal = findNoSandbox(request) ?? (await findUnsupported(request, getSupport));
      if (refusal !== undefined) return `${refusal}; the command was not run`;
      const excess = await ceiling?.findExcess(request);
      if (excess !== undefined) return `this executor does not allow it: ${excess}; the command was not run`;
      if (approvals.bind(request)) return undefined;
      return "its approval was given for another request; the command was not run";
    },
  };
}

const NO_SUPPORT: SandboxSupport = { kind: "none", problem: "the host where it runs commands has no sandbox" };

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
async function findUnsupported({ sandbox }: ExecCommandRequest, getSupport: () => Promise<SandboxSupport>) {
  if (sandbox === undefined || sandbox === null || sandbox.permissions.type === "disabled") return undefined;
  const { kind, problem } = await getSupport();
  if (kind !== "none") return undefined;
  return `the request names a sandbox, which this executor cannot apply${problem === undefined ? "" : `: ${problem}`}`;
}
