export { describeRequest, type QuestionSize } from "./describe-approval.js";
export { describeSandbox } from "./describe-sandbox.js";
export { type ApproverTerminal, createTerminalApprover } from "./terminal-approver.js";
