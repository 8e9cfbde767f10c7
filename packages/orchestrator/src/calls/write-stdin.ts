import type { WriteStdinRequest } from "@codex/executor-protocol";
import { commandIn } from "@codex/hooks";
import { rejected } from "../resolve/resolved.js";
import { resolveWriteStdin } from "../resolve/write-stdin.js";
import { fail, type ToolCallResult } from "../result.js";
import { findRunning, followSandboxed } from "./exec-command.js";
import { invalid, type PrepareCall, stopped } from "./prepared.js";
import { refuseBlocked, refuseTyped } from "./refusal.js";
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
  let request: WriteStdinRequest = concurrent
    ? { ...resolved.value.request, concurrent, until: "written" as const }
    : resolved.value.request;
  if (concurrent && !executor.can("concurrent_input")) {
    const reason = `executor \`${executor.name}\` does not accept input during a call that waits. Nothing was written.`;
    return stopped(fail("unsendable", reason));
  }
  const shell = session && context.typedShells.get(session);
  const isEnd = request.closeStdin === true;
  if (shell !== undefined && (request.input !== "" || isEnd)) {
    // Its lines are commands, which hooks may block as others; in Codex they are not asked.
    const place = { environment: context.catalog.environmentOf(executor.name), cwd: shell.resolved.request.cwd };
    const hooked = await context.callHooks.before({ tool: "Bash", input: { command: request.input } }, place);
    if (hooked?.answer.kind === "block") {
      trail.blocked();
      return stopped(refuseBlocked(hooked.use, hooked.answer.reason));
    }
    if (hooked?.answer.input !== undefined) {
      const changed = commandIn(hooked.answer.input);
      if (changed === undefined) {
        return stopped(invalid(tool.name, rejected("chars", "a hook replaced them by what is no text")));
      }
      request = { ...request, input: changed };
    }
    const line = { shell, text: request.input, isEnd, session: session?.id ?? request.processId };
    const { decision, command } = await decider.typedLine(line, signal);
    if (decision.kind === "refused") return stopped(refuseTyped(decision, shell, command));
    if (decision.kind === "ask") return decision;
  }
  const run = async (): Promise<ToolCallResult> => {
    if (session?.questionKey !== undefined) context.askingCommands.redirect(session.questionKey, options.approver);
    const wireArguments = { ...request, processId: session?.processId ?? request.processId };
    const result = await send(selected, { wireArguments, windowMs: request.yieldTimeMs, notices }, options, context);
    const isOver = !result.isError && findRunning(result, context) === undefined;
    if (session === undefined || !isOver) return result;
    const first = sandboxed.get(session);
    const hooked = context.hookedSessions.get(session);
    // The end is reported once, so approval is requested once.
    sandboxed.delete(session);
    context.hookedSessions.delete(session);
    const whole = first === undefined ? result : await followSandboxed(first, result, options, context);
    return context.callHooks.after(hooked, whole);
  };
  return { kind: "ready", run };
};
