import { resolveWriteStdin } from "../resolve/write-stdin.js";
import { fail, type ToolCallResult } from "../result.js";
import { findRunning, followSandboxed } from "./exec-command.js";
import { invalid, type PrepareCall, stopped } from "./prepared.js";
import { refuseTyped } from "./refusal.js";
import { send } from "./send.js";

/** Input for a session, or a wait for its output. */
export const prepareWriteStdin: PrepareCall = async (selected, args, options, context) => {
  const { executor, tool, session } = selected;
  const { config, sandboxed, trail, decider } = context;
  trail.tool(executor.name, args, session?.id);
  const resolved = resolveWriteStdin(args, { config });
  if (resolved.kind === "rejected") return stopped(invalid(tool.name, resolved));
  const { notices } = resolved.value;
  const { concurrent = false, signal } = options;
  const request = concurrent
    ? { ...resolved.value.request, concurrent, until: "written" as const }
    : resolved.value.request;
  if (concurrent && !executor.can("concurrent_input")) {
    const reason = `executor \`${executor.name}\` does not accept input during a call that waits. Nothing was written.`;
    return stopped(fail("unsendable", reason));
  }
  const shell = session && context.typedShells.get(session);
  const isEnd = request.closeStdin === true;
  if (shell !== undefined && (request.input !== "" || isEnd)) {
    const line = { shell, text: request.input, isEnd, session: session?.id ?? request.processId };
    const { decision, command } = await decider.typedLine(line, signal);
    if (decision.kind === "refused") return stopped(refuseTyped(decision, shell, command));
    if (decision.kind === "ask") return decision;
  }
  const run = async (): Promise<ToolCallResult> => {
    if (session?.questionKey !== undefined) context.askingCommands.redirect(session.questionKey, options.approver);
    const wireArguments = { ...request, processId: session?.processId ?? request.processId };
    const result = await send(selected, { wireArguments, windowMs: request.yieldTimeMs, notices }, options, context);
    const first = session === undefined ? undefined : sandboxed.get(session);
    const isOver = !result.isError && findRunning(result, context) === undefined;
    if (first === undefined || session === undefined || !isOver) return result;
    // The end is reported once, so approval is requested once.
    sandboxed.delete(session);
    return followSandboxed(first, result, options, context);
  };
  return { kind: "ready", run };
};
