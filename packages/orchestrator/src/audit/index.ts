export { type AuditLog, type AuditLogOptions, type AuditSink, createAuditLog } from "./audit-log.js";
export { type AuditRecord, type ChainHead, encodeRecords, GENESIS, parseRecord, type TimedEvent } from "./chain.js";
export type { AuditEvent } from "./event.js";
export { createFileSink, type FileSinkOptions } from "./file-sink.js";
export { type AuditFiles, listAuditFiles, readAuditLines, verifyAuditFiles } from "./read-files.js";
export { type AuditOptions, Auditor, type Trail } from "./trail.js";
export { type ChainCheck, ChainVerifier } from "./verify.js";
