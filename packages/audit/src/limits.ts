/** Largest record, bytes without its line end; a larger one is written without its details. */
export const MAX_AUDIT_RECORD_BYTES = 16 * 1024;
/** Longest text in a record (a directory, a rule), bytes; the end is cut. */
export const MAX_AUDIT_TEXT_BYTES = 1024;
/** Most bytes of a recorded argv, all words together; further words are left out. */
export const MAX_AUDIT_ARGV_BYTES = 8 * 1024;
/** Most rules and most byte ranges in a record. */
export const MAX_AUDIT_LIST = 32;
/** Records that wait to be written; further ones are dropped, and their number is recorded. */
export const MAX_AUDIT_QUEUE = 4096;
/** Records per write. */
export const MAX_AUDIT_BATCH = 256;
/** Bytes at the end of a file that are searched for its last record. */
export const AUDIT_TAIL_BYTES = 1024 * 1024;
/** Bytes at the end of a file that are read to show its newest records; also what is read at once of what was added since. */
export const FOLLOWED_AUDIT_BYTES = 2 * 1024 * 1024;
/** Size at which a file is rotated, bytes. */
export const DEFAULT_AUDIT_MAX_BYTES = 64 * 1024 * 1024;
/** Depth of scripts within scripts that are searched for secrets. */
export const MAX_REDACT_DEPTH = 3;
