import type { HostInfo, Sandbox } from "@codex/executor-protocol";
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type ApprovalResult,
  type Approver,
  type Auditor,
  beginOwnCall,
  createOwnRequest,
  type DetailedAnswer,
} from "@codex/orchestrator";
import { findUnwritable } from "@codex/permissions";
import { type ApprovalPolicy, evaluateFileChange, findNoSandbox, type SandboxSelector } from "@codex/policy";
import { messageOf } from "@codex/values";
import type { FilePolicy, PatchPermit, PatchPlace, PatchRequest } from "../tools/patch/file-policy.js";

/** Options of {@link createFilePolicy}; use the orchestrator's policy, sandbox and approver. */
export interface FilePolicyOptions {
  approvalPolicy: ApprovalPolicy;
  sandbox: SandboxSelector;
  /** Without one, everything that needs approval is refused. */
  approver?: Approver;
  /** Host description of an environment, from its executor. */
  hostOf(environment: string): HostInfo | undefined;
  /** Absolute workspace directories, the working directory first. */
  workspaceRootsOf(environment: string): readonly string[] | undefined;
  /** Converts a sandbox to the form that file calls accept. */
  toFileSandbox(sandbox: Sandbox): unknown;
  /** Audits patches like the orchestrator's calls; default: no audit. */
  auditor?: Pick<Auditor, "begin">;
  newId(): string;
}

/** Applies the command policy to patches, and caches approvals for the session by file. */
export function createFilePolicy(options: FilePolicyOptions): FilePolicy {
  const allowed = new Set<string>();
  const keysOf = ({ environment, paths }: PatchRequest) => paths.map((path) => JSON.stringify([environment, path]));
  return {
    sandboxOf(place) {
      const chosen = selectSandbox(options, place);
      if ("refused" in chosen) return chosen;
      return { fileSandbox: toFileCallSandbox(options, chosen.sandbox) };
    },
    async permit(request, signal) {
      const { environment, text, paths } = request;
      const record = beginOwnCall(options.auditor, { tool: "apply_patch", environment, args: { input: text } });
      const grant = async (sandbox: Sandbox | null): Promise<PatchPermit> => {
        const { decision } = record;
        const unrecorded = await record.starting(sandbox);
        if (unrecorded !== undefined) return { kind: "refused", reason: unrecorded, decision };
        return { kind: "granted", fileSandbox: toFileCallSandbox(options, sandbox), decision, ended: record.ended };
      };
      const refuse = (code: "sandbox_unavailable" | "forbidden" | "denied" | "interrupted", reason: string) => {
        record.refused(code, reason);
        return { kind: "refused", reason, decision: record.decision } as const;
      };
      const chosen = selectSandbox(options, request);
      if ("refused" in chosen) return refuse("sandbox_unavailable", chosen.refused);
      const { approvalPolicy } = options;
      const noSandbox = findNoSandbox(options.hostOf(environment));
      const verdict = evaluateFileChange({ paths, approvalPolicy, sandbox: chosen.sandbox, noSandbox });
      record.judged(verdict);
      if (verdict.kind === "allow") return grant(chosen.sandbox);
      const { reason } = verdict;
      if (verdict.kind === "refuse") return refuse("forbidden", reason);
      const keys = keysOf(request);
      const id = options.newId();
      const result: ApprovalResult = keys.every((key) => allowed.has(key))
        ? { kind: "approved", by: "session" }
        : await requestApproval(options.approver, createApprovalRequest(request, reason, id), signal, () => {
            for (const key of keys) allowed.add(key);
          });
      record.decided(id, result);
      switch (result.kind) {
        case "approved": {
          // An approved patch still runs in the sandbox if that permits it.
          const isContained = findUnwritable(paths, chosen.sandbox) === undefined && noSandbox === undefined;
          return grant(isContained ? chosen.sandbox : null);
        }
        case "denied":
          return refuse("denied", `${reason}, and ${result.reason}`);
        case "cancelled":
          record.refused("cancelled", "the user ended the turn");
          return { kind: "cancelled", decision: record.decision };
        case "interrupted":
        case "changed":
          return refuse("interrupted", `${reason}, and the turn was interrupted`);
      }
    },
  };
}

/** Selects the sandbox that a command at this location would get. */
function selectSandbox(
  options: FilePolicyOptions,
  { environment, cwd }: PatchPlace,
): { sandbox: Sandbox | null } | { refused: string } {
  try {
    const chosen = options.sandbox.select({
      environment,
      host: options.hostOf(environment),
      cwd,
      workspaceRoots: options.workspaceRootsOf(environment),
      sandboxPermissions: "use_default",
      additionalPermissions: null,
      bypassSandbox: false,
    });
    return chosen !== null && "refused" in chosen ? chosen : { sandbox: chosen };
  } catch (error) {
    return { refused: `its sandbox could not be chosen: ${messageOf(error)}` };
  }
}

const toFileCallSandbox = ({ toFileSandbox }: FilePolicyOptions, sandbox: Sandbox | null): unknown =>
  sandbox === null ? undefined : toFileSandbox(sandbox);

/** Requests approval; any failure denies. `onSession` is called when it is granted for the session. */
async function requestApproval(
  approver: Approver | undefined,
  request: ApprovalRequest,
  signal: AbortSignal,
  onSession: () => void,
): Promise<ApprovalResult> {
  if (approver === undefined) return { kind: "denied", by: "nobody", reason: "there is nobody to ask" };
  try {
    const aborted = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    const response = await Promise.race([approver.requestApproval(request, { signal }), aborted]);
    const { decision, by = "user" } = typeof response === "string" ? { decision: response } : response;
    if (decision === "accept_for_session") onSession();
    return toResult(decision, by);
  } catch (error) {
    if (signal.aborted) return { kind: "interrupted" };
    return { kind: "denied", by: "failure", reason: `asking failed: ${messageOf(error)}` };
  }
}

function toResult(decision: ApprovalDecision, by: NonNullable<DetailedAnswer["by"]>): ApprovalResult {
  switch (decision) {
    case "accept":
    case "accept_for_session":
      return { kind: "approved", by };
    case "cancel":
      return { kind: "cancelled", by };
    // Not among the offered decisions.
    case "accept_and_save":
    case "decline":
      return { kind: "denied", by, reason: `the ${by} declined` };
  }
}

function createApprovalRequest({ environment, cwd, text }: PatchRequest, reason: string, id: string): ApprovalRequest {
  const command = ["apply_patch", text];
  return createOwnRequest({ id, toolName: "apply_patch", environment, command, plainCommands: [command], cwd, reason });
}
