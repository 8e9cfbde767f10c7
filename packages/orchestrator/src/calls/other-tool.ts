import { copyFrozen } from "../approvals/binding.js";
import { ENVIRONMENT_ID } from "../catalog/catalog.js";
import { isObject } from "../json.js";
import { rejected } from "../resolve/resolved.js";
import { describeSlips, findMisspelt } from "../resolve/unknown-fields.js";
import { isForDisplay } from "./display.js";
import { invalid, type PrepareCall, stopped } from "./prepared.js";
import { refuseBlocked, refuseDeed } from "./refusal.js";
import { send } from "./send.js";

/** Other tools get the model's arguments unchanged, without those that are for the orchestrator. */
export const prepareOtherTool: PrepareCall = async (selected, args, options, context) => {
  const { executor, tool, session } = selected;
  const environment = context.catalog.environmentOf(executor.name);
  context.trail.tool(environment, args, session?.id);
  const misspelt = findMisspelt(args, tool);
  if (misspelt !== undefined) return stopped(invalid(tool.name, misspelt));
  const cwd = options.cwd ?? executor.host?.cwd ?? "/";
  const given = { ...args };
  if (context.catalog.takesEnvironment(tool.name)) delete given[ENVIRONMENT_ID];
  const hooked = isForDisplay(tool.name, options)
    ? undefined
    : await context.callHooks.before({ tool: tool.name, input: given }, { environment, cwd });
  if (hooked?.answer.kind === "block") {
    context.trail.blocked();
    return stopped(refuseBlocked(hooked.use, hooked.answer.reason));
  }
  const input = hooked?.use.input ?? given;
  if (!isObject(input)) return stopped(invalid(tool.name, rejected("", "a hook replaced them by what is no object")));
  const own = { ...input };
  if (session !== undefined) own.session_id = session.processId;
  const { asksApproval = false } = tool;
  const wireArguments = asksApproval ? copyFrozen(own) : own;
  if (asksApproval) {
    const decision = await context.decider.toolCall(
      { selected, args: wireArguments, environment, cwd },
      options.signal,
    );
    const deed = { subject: `The call of \`${tool.name}\``, effect: "Nothing was run." };
    if (decision.kind === "refused") return stopped(refuseDeed(decision, deed));
    if (decision.kind === "ask") return decision;
  }
  const call = { wireArguments, windowMs: undefined, notices: describeSlips(args, tool) };
  // The decision is valid only for this executor.
  const bound = asksApproval ? { ...call, isInstanceBound: true } : call;
  return {
    kind: "ready",
    run: async () => context.callHooks.after(hooked?.use, await send(selected, bound, options, context)),
  };
};
