export { type ApprovalTerms, type CodexApproval, codexApproval } from "./approval.js";
export type { ToolCaller } from "./tool-caller.js";
export { type CodexToolOutput, type CodexTools, type CodexToolsOptions, codexTools } from "./tools.js";
