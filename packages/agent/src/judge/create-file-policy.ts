import type { HostInfo, Sandbox } from "@codex/executor-protocol";
import type { ApprovalAnswer, ApprovalRequest, Approver } from "@codex/orchestrator";
import { findUnwritable } from "@codex/permissions";
import { type ApprovalPolicy, findNoSandbox, type SandboxSelector } from "@codex/policy";
import { messageOf } from "@codex/telemetry";
import type { FilePolicy, PatchPermit, PatchPlace, PatchRequest } from "../tools/patch/file-policy.js";
import { judgePatch } from "./judge-patch.js";

/** What a FilePolicy is made of: the same policy, sandbox and approver as those of the orchestrator. */
export interface FilePolicyOptions {
  approvalPolicy: ApprovalPolicy;
  sandbox: SandboxSelector;
  /** Without one nobody can be asked, and what would be asked is refused. */
  approver?: Approver;
  /** The host of an environment, as its executor describes it. */
  hostOf(environment: string): HostInfo | undefined;
  /** Absolute directories of the turn, first the one where it works. */
  workspaceRootsOf(environment: string): readonly string[] | undefined;
  /** The sandbox as file calls take it. */
  toFileSandbox(sandbox: Sandbox): unknown;
  newId(): string;
}

/** Judges patches as commands are judged, and remembers for which files a person allowed them for the session. */
export function createFilePolicy(options: FilePolicyOptions): FilePolicy {
  const allowed = new Set<string>();
  const keysOf = ({ environment, paths }: PatchRequest) => paths.map((path) => JSON.stringify([environment, path]));
  return {
    sandboxOf(place) {
      const chosen = choose(options, place);
      if ("refused" in chosen) return chosen;
      return { fileSandbox: toFile(options, chosen.sandbox) };
    },
    async permit(request, signal) {
      const chosen = choose(options, request);
      if ("refused" in chosen) return { kind: "refused", reason: chosen.refused };
      const { approvalPolicy } = options;
      const noSandbox = findNoSandbox(options.hostOf(request.environment));
      const verdict = judgePatch({ paths: request.paths, approvalPolicy, sandbox: chosen.sandbox, noSandbox });
      if (verdict.kind === "allow") return { kind: "granted", fileSandbox: toFile(options, chosen.sandbox) };
      const { reason } = verdict;
      if (verdict.kind === "refuse") return { kind: "refused", reason };
      // What is allowed stays in its sandbox where that holds it; a person lets out what it does not.
      const isHeld = findUnwritable(request.paths, chosen.sandbox) === undefined && noSandbox === undefined;
      const granted = { kind: "granted", fileSandbox: isHeld ? toFile(options, chosen.sandbox) : undefined } as const;
      const keys = keysOf(request);
      if (keys.every((key) => allowed.has(key))) return granted;
      const { approver } = options;
      if (approver === undefined) return { kind: "refused", reason: `${reason}, and there is nobody to ask` };
      const answer = await ask(approver, toQuestion(request, reason, options.newId()), signal);
      if ("failed" in answer) return { kind: "refused", reason: `${reason}, and ${answer.failed}` };
      if (answer.decision === "accept_for_session") for (const key of keys) allowed.add(key);
      return toPermit(answer.decision, granted, reason);
    },
  };
}

function toPermit(decision: Exclude<ApprovalAnswer, object>, granted: PatchPermit, reason: string): PatchPermit {
  switch (decision) {
    case "accept":
    case "accept_for_session":
      return granted;
    case "cancel":
      return { kind: "cancelled" };
    // It is not among the decisions that were offered.
    case "accept_and_save":
    case "decline":
      return { kind: "refused", reason: `${reason}, and the user declined` };
  }
}

/** The sandbox of a place, as the one of a command that starts there. */
function choose(
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

const toFile = ({ toFileSandbox }: FilePolicyOptions, sandbox: Sandbox | null): unknown =>
  sandbox === null ? undefined : toFileSandbox(sandbox);

/** No decision is no permission. */
async function ask(
  approver: Approver,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<{ decision: Exclude<ApprovalAnswer, object> } | { failed: string }> {
  try {
    const aborted = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    const answer = await Promise.race([approver.requestApproval(request, { signal }), aborted]);
    return { decision: typeof answer === "string" ? answer : answer.decision };
  } catch (error) {
    return { failed: signal.aborted ? "the turn was interrupted" : `asking failed: ${messageOf(error)}` };
  }
}

function toQuestion({ environment, cwd, text }: PatchRequest, reason: string, id: string): ApprovalRequest {
  const command = Object.freeze(["apply_patch", text]);
  return Object.freeze({
    id,
    toolName: "apply_patch",
    environment,
    command,
    plainCommands: Object.freeze([command]),
    cwd,
    tty: false,
    reason,
    cause: { kind: "policy" },
    justification: null,
    sandboxPermissions: "require_escalated",
    additionalPermissions: null,
    sandbox: null,
    afterDenial: null,
    proposedAmendment: null,
    availableDecisions: Object.freeze(["accept", "accept_for_session", "decline", "cancel"] as const),
  } satisfies ApprovalRequest);
}
