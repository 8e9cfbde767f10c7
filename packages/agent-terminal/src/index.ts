export { type ExecJsonEvent, type ExecJsonOptions, renderExecJson } from "./exec/exec-json.js";
export { renderHeader } from "./exec/header.js";
export { createJsonView } from "./exec/json-view.js";
export { type LastMessageFile, openLastMessageFile } from "./exec/last-message.js";
export { createOutputSink, type OutputSink } from "./exec/output-sink.js";
export {
  type LeftRunning,
  runShownTurn,
  type ShownTurn,
  type ShownTurnResult,
} from "./exec/run-turn.js";
export { createTextView, type Paint, type TextViewOptions } from "./exec/text-view.js";
export type { TurnView } from "./exec/turn-view.js";
export type { AgentSession, RunningSession } from "./interactive/agent-session.js";
export {
  type ConversationHandle,
  TerminalConversation,
  type TerminalConversationOptions,
} from "./interactive/conversation.js";
export { type ConversationTerminal, createConversationTerminal } from "./interactive/conversation-terminal.js";
export { type ApprovalFacts, describeApprovals } from "./interactive/describe-approvals.js";
export type { QuestionTerminal } from "./interactive/questions.js";
export { type DiffPlace, readDiff } from "./interactive/read-diff.js";
export { createSavedSession, type SavedSessionOptions } from "./interactive/saved-session.js";
export { readImages } from "./prompt/images.js";
export { PromptError } from "./prompt/prompt-error.js";
export { type PromptInput, type PromptSources, readPrompt } from "./prompt/read-prompt.js";
export { readSchema } from "./prompt/read-schema.js";
export { createModelApprover, type ModelApproverOptions } from "./review/model-approver.js";
export { renderReview } from "./review/render-review.js";
export { REVIEW_INSTRUCTIONS } from "./review/review-instructions.js";
export { describeReview, type ReviewTarget } from "./review/review-target.js";
export {
  type AgentSettings,
  AgentSettingsError,
  DEFAULT_MODEL,
  readAgentSettings,
} from "./settings/agent-settings.js";
export { describeOthers, getToday } from "./settings/environment-context.js";
export { listThreads, renderThreadRows, type ThreadRow } from "./threads/list-threads.js";
export { renderThreadReport } from "./threads/render-report.js";
export {
  type ReportedCall,
  type ReportedCut,
  type ReportedResponse,
  type ReportedTurn,
  readThreadReport,
  type ThreadReport,
} from "./threads/thread-report.js";
