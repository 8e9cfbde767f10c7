export { type AuditLog, type AuditLogOptions, type AuditSink, createAuditLog } from "./audit-log.js";
export {
  type AuditRecord,
  type ChainHead,
  encodeRecords,
  GENESIS,
  parseRecord,
  sha256,
  type TimedEvent,
} from "./chain.js";
export type { AuditEvent, CallEvent, DecidedBy, ProgramEvent, ResultEvent, SandboxSummary } from "./event.js";
export { createFileSink, type FileSinkOptions } from "./file-sink.js";
export { AuditFollower, type FollowedAudit } from "./follow-file.js";
export { MAX_AUDIT_ARGV_BYTES, MAX_AUDIT_LIST, MAX_AUDIT_TEXT_BYTES } from "./limits.js";
export { type AuditFiles, listAuditFiles, readAuditLines, verifyAuditFiles } from "./read-files.js";
export { redact, redactWords } from "./redact.js";
export type { ChainCheck } from "./verify.js";
