import {
  presentResult,
  renderFailure,
  STANDARD_TOOLS,
  type StandardToolName,
  type StandardToolResults,
  type ToolCallOutcome,
} from "@codex/executor-protocol";

/** An outcome with its text, for an orchestrator that does not render the results of the standard tools. */
export function presentOutcome(toolName: string, outcome: ToolCallOutcome): ToolCallOutcome {
  if (outcome.status === "error") {
    const { sessionId: _, ...failure } = outcome;
    return { ...failure, message: renderFailure(outcome) };
  }
  if (outcome.content.length > 0 || outcome.structured === undefined || !isStandardTool(toolName)) return outcome;
  // What these tools return has the shape of their results.
  const result = outcome.structured as StandardToolResults[typeof toolName];
  const { text, structured } = presentResult(toolName, result);
  return { status: "success", content: [{ type: "input_text", text }], structured };
}

const isStandardTool = (name: string): name is StandardToolName => Object.hasOwn(STANDARD_TOOLS, name);
