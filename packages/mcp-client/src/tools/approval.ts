import type { ToolAnnotations } from "@modelcontextprotocol/client";
import type { McpApprovalMode, McpServerConfig } from "../config/server-config.js";

/** Whether calls of a tool need approval. The server's annotations count only in the modes `writes` and `auto`. */
export function asksApproval(
  { approvalMode, toolApprovalModes }: Pick<McpServerConfig, "approvalMode" | "toolApprovalModes">,
  tool: string,
  annotations: ToolAnnotations = {},
): boolean {
  const mode: McpApprovalMode = Object.hasOwn(toolApprovalModes, tool) ? toolApprovalModes[tool]! : approvalMode;
  const { destructiveHint, readOnlyHint, openWorldHint } = annotations;
  const onlyReads = readOnlyHint === true && destructiveHint !== true;
  switch (mode) {
    case "approve":
      return false;
    case "prompt":
      return true;
    case "writes":
      return !onlyReads;
    case "auto":
      return !onlyReads && (destructiveHint !== false || openWorldHint !== false);
  }
}
