import {
  comparePatch,
  type FilesBefore,
  getPatchPaths,
  type Patch,
  parsePatch,
  planPatch,
  renderFailure,
  renderProblem,
  renderProblems,
  renderSuccess,
} from "@codex/apply-patch";
import type { Clock } from "@codex/clock";
import type { AgentFiles } from "@codex/file-tools";
import {
  applyPlan,
  confineFiles,
  describeChanges,
  describeRollback,
  getAffectedPaths,
  readFiles,
} from "@codex/file-tools";
import type { FileChangeDetails } from "../../events/thread-item.js";
import { type FileEnvironment, type FileEnvironments, findFilePlace } from "../../files/file-place.js";
import type { AgentToolResult, ToolContext } from "../agent-tool.js";
import type { FilePolicy } from "./file-policy.js";
import { createCheckpoint, describeCheckpoint, parseCheckpoint } from "./patch-checkpoint.js";

/** Options of {@link runPatch}. */
export interface PatchOptions {
  environments: FileEnvironments;
  policy: FilePolicy;
  clock: Pick<Clock, "now">;
  /** Creates names of temporary files; letters and digits only. */
  newId(): string;
}

/** A patch, and the location requested by its call. */
export interface PatchCall {
  text: string;
  /** Environment of the call; the patch may name another one. */
  environment: string | undefined;
  /** Directories to resolve in sequence. */
  directories: readonly (string | undefined)[];
}

/** The result of a patch. */
export interface PatchResult extends AgentToolResult {
  /** Files were changed, even if that was undone: the output then has an exit code. */
  wasBegun?: true;
}

/** Applies a patch completely or not at all. */
export async function runPatch(call: PatchCall, context: ToolContext, options: PatchOptions): Promise<PatchResult> {
  const startedAt = options.clock.now();
  const prepared = await prepare(call, context, options);
  if ("refused" in prepared) return failed(prepared.refused);
  const { patch, environment, cwd, before } = prepared;
  const planned = planPatch(patch, cwd, before);
  if (!planned.ok) return failed(renderProblems(planned));
  const { plan } = planned;
  const item: FileChangeDetails = { kind: "file_change", changes: describeChanges(plan), environment: environment.id };
  context.show(item);
  const checkpoint = await createCheckpoint(patch, plan, cwd);
  if (checkpoint !== undefined) await context.saveCheckpoint(checkpoint);
  const request = { environment: environment.id, cwd, text: call.text, paths: getAffectedPaths(plan, before) };
  const permit = await options.policy.permit(request, context.signal);
  const decision = permit.decision === undefined ? {} : { decision: permit.decision };
  if (permit.kind === "cancelled") return { ...declined("the user ended the turn", item), ...decision, endsTurn: true };
  if (permit.kind === "refused") return { ...declined(permit.reason, item), ...decision };
  if (context.signal.aborted) {
    permit.ended?.(false);
    return { ...declined("the turn was interrupted", item), ...decision };
  }
  const applied = await applyPlan(confineFiles(environment.files, permit.fileSandbox), plan, options.newId);
  permit.ended?.(applied.ok);
  const seconds = (options.clock.now() - startedAt) / 1000;
  const notice = environment.notice === undefined ? "" : `${environment.notice}\n`;
  const answered = { item, ...decision, wasBegun: true as const };
  if (applied.ok) return { output: notice + renderSuccess(plan.changes, seconds), status: "completed", ...answered };
  const output = notice + renderFailure(describeRollback(applied, plan), seconds);
  return { output, status: "failed", ...answered };
}

/** Reports for each file whether an interrupted patch was applied to it. `saved`: the checkpoint of the call, if there is one. */
export async function recoverPatch(
  call: PatchCall,
  context: ToolContext,
  options: PatchOptions,
  saved: unknown,
): Promise<string> {
  const prepared = await prepare(call, context, options);
  if ("refused" in prepared) return prepared.refused;
  const { patch, cwd, before, files } = prepared;
  const checkpoint = parseCheckpoint(saved);
  const lines =
    checkpoint === undefined
      ? comparePatch(patch, cwd, before).map(({ shownPath, state }) => `${shownPath}: ${STATES[state]}`)
      : await describeCheckpoint(checkpoint, files, before);
  return ["The patch was under way when the agent was killed. What is true of each file now:", ...lines].join("\n");
}

const STATES = {
  before: "old, the patch has not reached it",
  after: "new, as the patch leaves it",
  other: "neither old nor new: cut off while it was written, or changed by something else",
};

interface Prepared {
  patch: Patch;
  environment: FileEnvironment;
  cwd: string;
  before: FilesBefore;
  /** Confined to the sandbox of the place. */
  files: AgentFiles;
}

async function prepare(
  { text, environment: named, directories }: PatchCall,
  context: ToolContext,
  options: PatchOptions,
): Promise<Prepared | { refused: string }> {
  const parsed = parsePatch(text);
  if (!parsed.ok) return { refused: renderProblem(parsed.problem) };
  const { patch } = parsed;
  if (patch.environmentId !== undefined && options.environments.ids.length < 2) {
    return {
      refused:
        "apply_patch: this turn has one environment, and '*** Environment ID:' selects among several: leave it out",
    };
  }
  const place = await findFilePlace({ environment: patch.environmentId ?? named, directories }, context, options);
  if ("unknown" in place) return { refused: `apply_patch: ${place.unknown}` };
  if ("refused" in place) return { refused: describeRefusal(place.refused) };
  const { environment, cwd, files } = place;
  return { patch, environment, cwd, before: await readFiles(files, getPatchPaths(patch, cwd)), files };
}

const failed = (output: string): AgentToolResult => ({ output, status: "failed" });

const declined = (reason: string, item: FileChangeDetails): AgentToolResult => ({
  output: describeRefusal(reason),
  status: "declined",
  item,
});

const describeRefusal = (reason: string) => `The patch is rejected: ${reason}. Nothing was changed.`;
