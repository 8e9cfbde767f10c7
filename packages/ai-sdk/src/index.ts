export { type ApprovalTerms, type CodexApproval, codexApproval } from "./approval.js";
export {
  type CodexToolOutput,
  type CodexTools,
  type CodexToolsOptions,
  codexTools,
  type NamedToolOutput,
  nameOutput,
} from "./tools.js";
