import { randomUUID } from "node:crypto";
import {
  getPatchPaths,
  parsePatch,
  parsePatchScript,
  planPatch,
  renderFailure,
  renderProblem,
  renderProblems,
  renderSuccess,
} from "@codex/apply-patch";
import { applyPlan, describeChanges, describeRollback, getAffectedPaths, readFiles } from "@codex/file-tools";
import { commandIn, type ToolUse } from "@codex/hooks";
import { messageOf } from "@codex/values";
import type { CallToolOptions } from "../calls/call-options.js";
import { invalid, type Prepared, stopped } from "../calls/prepared.js";
import { refuseBlocked, refuseDeed } from "../calls/refusal.js";
import { rejected } from "../resolve/resolved.js";
import { fail, type ToolCallResult } from "../result.js";
import type { CarryOutContext } from "./context.js";
import { placeFileCall } from "./place.js";

/** A patch, and what its call says of its place. */
export interface PatchCall {
  readonly text: string;
  readonly environment: string | undefined;
  /** To resolve in sequence, from that of the turn. */
  readonly directories: readonly (string | undefined)[];
  /** What hooks are asked about. */
  readonly use: Pick<ToolUse, "tool" | "input">;
  /** It was the script of a command: hooks are not told its end. */
  readonly isScript?: true;
}

/** Reads the files of a patch in the sandbox of the place, and decides about its changes. `run` makes all of them, or none. */
export async function preparePatch(
  call: PatchCall,
  options: CallToolOptions,
  context: CarryOutContext,
): Promise<Prepared> {
  const { trail, clock, catalog, callHooks } = context;
  const first = parsePatch(call.text);
  if (!first.ok) return stopped(fail("invalid_arguments", renderProblem(first.problem)));
  const id = first.patch.environmentId;
  if (id !== undefined && catalog.names(options.environments).length < 2) {
    const reason =
      "apply_patch: there is one environment, and '*** Environment ID:' selects among several: leave it out";
    return stopped(fail("invalid_arguments", reason));
  }
  const placed = await placeFileCall(id ?? call.environment, call.directories, options, context);
  if (placed.kind === "result") return placed;
  const { place } = placed;
  const { executor, environment, cwd, workspaceRoots } = place;
  trail.tool(environment, { input: call.text }, undefined);
  const hooked = await callHooks.before(call.use, place);
  if (hooked?.answer.kind === "block") {
    trail.blocked();
    return stopped(place.locate(refuseBlocked(hooked.use, hooked.answer.reason)));
  }
  const text = hooked?.answer.input === undefined ? call.text : findText(hooked.answer.input, call.isScript);
  const parsed = text === undefined ? undefined : parsePatch(text);
  if (text === undefined || parsed === undefined) {
    return stopped(place.locate(invalid("apply_patch", rejected("input", "a hook replaced it by what is no patch"))));
  }
  if (!parsed.ok) return stopped(place.locate(fail("invalid_arguments", renderProblem(parsed.problem))));
  const { patch } = parsed;
  const decider = context.createDecider(environment);
  const deed = { executor, tool: "apply_patch", cwd, workspaceRoots };
  const look = await context.deciders
    .judging(environment, options.client)
    .fileAccess({ ...deed, change: undefined }, undefined);
  const rejects = { subject: "The patch", effect: "Nothing was changed." };
  if (look.kind === "refused") return stopped(place.locate(refuseDeed(look, rejects)));
  if (look.kind === "ask") return look;
  const files = await context.connect(executor).catch((error: unknown) => messageOf(error));
  if (typeof files === "string") return stopped(place.locate(fail("tool_failed", `${files}. Nothing was changed.`)));
  const before = await readFiles(files.confine(look.terms.sandbox), getPatchPaths(patch, cwd));
  const planned = planPatch(patch, cwd, before);
  if (!planned.ok) return stopped(place.locate(fail("tool_failed", renderProblems(planned))));
  const { plan } = planned;
  const paths = getAffectedPaths(plan, before);
  const change = { paths, shown: ["apply_patch", text], subject: "patch" as const };
  const decision = await decider.fileAccess({ ...deed, change }, options.signal);
  if (decision.kind === "refused") return stopped(place.locate(refuseDeed(decision, rejects)));
  if (decision.kind === "ask") return decision;
  const { sandbox } = decision.terms;
  // The model called a command, and reads its result as one.
  const asOutput = (output: string) =>
    call.isScript === true ? `Wall time: 0.0000 seconds\nOutput:\n${output}` : output;
  const run = async (): Promise<ToolCallResult> => {
    const unrecorded = await trail.sending(sandbox);
    if (unrecorded !== undefined) return unrecorded;
    context.progress.isSent = true;
    const startedAt = clock.now();
    const applied = await applyPlan(files.confine(sandbox), plan, () => randomUUID().replaceAll("-", ""));
    const seconds = (clock.now() - startedAt) / 1000;
    const result: ToolCallResult = applied.ok
      ? {
          status: "success",
          isError: false,
          text: asOutput(renderSuccess(plan.changes, seconds)),
          structured: { changes: describeChanges(plan) },
        }
      : fail("tool_failed", asOutput(renderFailure(describeRollback(applied, plan), seconds)));
    trail.answered(result);
    return call.isScript === true ? result : callHooks.after(hooked?.use, result);
  };
  return { kind: "ready", run: async () => place.locate(await run()) };
}

/** The patch that a hook gives instead. */
function findText(input: unknown, isScript: true | undefined): string | undefined {
  const command = commandIn(input);
  if (command === undefined || isScript !== true) return command;
  const script = parsePatchScript(command);
  return script?.kind === "patch" ? script.text : undefined;
}
