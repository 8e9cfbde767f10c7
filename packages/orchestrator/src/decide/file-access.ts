import type { ExecutorConnection } from "@codex/executor-client";
import type { Sandbox } from "@codex/executor-protocol";
import { findUnwritable } from "@codex/permissions";
import { evaluateFileChange, findNoSandbox, type Policy, type Requirement } from "@codex/policy";
import { digestQuestion } from "../approvals/binding.js";
import { chooseSandbox, selectSandbox } from "./choose-sandbox.js";
import { type Evaluation, forbidden, unavailable } from "./decision.js";
import { createOwnRequest } from "./own-request.js";
import type { DecidePorts } from "./ports.js";

/** An access to files of an executor's host. */
export interface FileAccessDeed {
  readonly executor: Pick<ExecutorConnection, "name" | "host">;
  /** Such as `apply_patch` or `write_file`; shown. */
  readonly tool: string;
  /** Absolute directory of the turn, whose sandbox applies. */
  readonly cwd: string;
  readonly workspaceRoots: readonly string[] | undefined;
  /** What is changed; undefined for an access that changes nothing. */
  readonly change:
    | {
        /** Absolute paths that are written or removed. */
        readonly paths: readonly string[];
        /** The words that are shown when approval is requested: the tool, and what it would do. */
        readonly shown: readonly string[];
        readonly subject: "patch" | "change";
      }
    | undefined;
}

/** How it may be done. */
export interface FileTerms {
  /** The sandbox of the file calls; null for none. */
  readonly sandbox: Sandbox | null;
}

/** Looking is allowed in the sandbox of the place. A change is allowed where that may write; anything else is asked about, or refused. */
export function evaluateFileAccess(
  { executor, tool, cwd, workspaceRoots, change }: FileAccessDeed,
  policy: Policy,
  { newId }: DecidePorts,
): Evaluation<FileTerms> {
  const noSandbox = findNoSandbox(executor.host);
  const request = { cwd, sandboxPermissions: "use_default" as const, additionalPermissions: null };
  const place = { request, workspaceRoots };
  // A change can be asked about where nothing can be sandboxed; a look cannot.
  const chosen =
    change !== undefined && noSandbox !== undefined
      ? selectSandbox(executor, place, false, policy.sandbox)
      : chooseSandbox(executor, place, false, policy);
  if (chosen.kind === "refused") return { requirement: undefined, outcome: unavailable(chosen.reason) };
  const sandbox = chosen.sandbox ?? null;
  const cause = { kind: "policy" } as const;
  const allowed: Requirement = { kind: "skip", bypassSandbox: false };
  if (change === undefined) return { requirement: allowed, outcome: { kind: "allowed", terms: { sandbox } } };
  const { paths, shown, subject } = change;
  const { approvalPolicy } = policy;
  const verdict = evaluateFileChange({ paths, approvalPolicy, sandbox, noSandbox, subject });
  if (verdict.kind === "allow") return { requirement: allowed, outcome: { kind: "allowed", terms: { sandbox } } };
  const { reason } = verdict;
  if (verdict.kind === "refuse") {
    return { requirement: { kind: "forbidden", reason, cause }, outcome: forbidden(reason) };
  }
  const asked = createOwnRequest({
    id: newId(),
    toolName: tool,
    environment: executor.name,
    command: shown,
    ...(subject === "patch" ? { plainCommands: [shown] } : {}),
    cwd,
    reason,
  });
  // What is approved is done in the sandbox as well, if that permits it.
  const isContained = findUnwritable(paths, sandbox) === undefined && noSandbox === undefined;
  const outside = isContained ? undefined : chooseSandbox(executor, place, true, policy);
  if (outside?.kind === "refused") return { requirement: undefined, outcome: unavailable(outside.reason) };
  const terms = { sandbox: outside === undefined ? sandbox : (outside.sandbox ?? null) };
  const question = {
    request: asked,
    keys: paths.map((path) => JSON.stringify([executor.name, tool, path])),
    digest: digestQuestion(asked),
  };
  return {
    requirement: { kind: "needsApproval", reason, cause, asking: null },
    outcome: { kind: "ask", terms, reason, question },
  };
}
