/** Pages that are connected at once. */
export const MAX_VIEWERS = 256;
/** Viewers that were let in and may come back, such as by reloading the page; the oldest is forgotten. */
export const MAX_ADMITTED = 1024;
/** Tokens that were not used yet; the oldest is forgotten. */
export const MAX_TOKENS = 256;
/** Body of an HTTP request, bytes. */
export const MAX_BODY_BYTES = 1024;
/** Message of a page, bytes. */
export const MAX_PAGE_MESSAGE_BYTES = 64 * 1024;
/** Characters of input that are typed or pasted at once. */
export const MAX_INPUT_CHARACTERS = 16 * 1024;
/** Words of a rule. */
export const MAX_RULE_WORDS = 64;
/** Sessions whose output one page follows at once. */
export const MAX_OPEN_SESSIONS = 16;
/** Output of a session that a page was sent and has not acknowledged, bytes. */
export const UNACKNOWLEDGED_BYTES = 1024 * 1024;
/** Bytes that wait in the socket of a page before it is sent no more. */
export const UNSENT_BYTES = 256 * 1024;
/** Output of a session that is kept by the view, bytes; older output is read from the executor again. */
export const KEPT_OUTPUT_BYTES = 2 * 1024 * 1024;
/** The same, of a session that a page reads. */
export const VIEWED_OUTPUT_BYTES = 32 * 1024 * 1024;
/** Output that is read ahead of a page which is slower than the program, bytes. */
export const AHEAD_BYTES = 24 * 1024 * 1024;
/** How long that goes on without a page, milliseconds, and the longest wait for output meanwhile. */
export const AHEAD_MS = 10_000;
export const AHEAD_WAIT_MS = 500;
/** Output that is kept of all sessions, bytes. */
export const KEPT_OUTPUT_BYTES_IN_ALL = 64 * 1024 * 1024;
/** Largest part of the output that is read at once, bytes. */
export const PART_BYTES = 256 * 1024;
/**
 * Output that pages are sent while a program writes faster, bytes a second, shared by all pages; what one page gets at least;
 * and what a page is sent before that applies, bytes.
 */
export const PACED_BYTES_PER_SECOND = 2 * 1024 * 1024;
export const MIN_PACED_BYTES_PER_SECOND = 128 * 1024;
export const PACED_BURST_BYTES = 1024 * 1024;
/** What is collected before it is sent, once that applies, bytes. */
export const PACED_PIECE_BYTES = 256 * 1024;
/** A program that has written nothing for this long is not busy: pages read on as fast as they can, milliseconds. */
export const QUIET_MS = 200;
/** Newest output that a page goes on with when what it would read next is not kept while the program writes on, bytes. */
export const SKIPPED_TO_BYTES = 256 * 1024;
/** Longest wait of one read for new output, milliseconds; the next one follows at once. */
export const READ_WAIT_MS = 25_000;
/** Between two changes of the same entity that are sent, milliseconds. */
export const PUBLISH_MS = 50;
/** The same of what changes with all output: last lines, bytes. */
export const PUBLISH_OUTPUT_MS = 250;
/** Entities of each kind; the oldest one is dropped. */
export const MAX_ENTITIES = {
  thread: 1,
  environment: 256,
  session: 512,
  item: 2000,
  question: 256,
  record: 5000,
  recording: 16,
};
/** Text of an entity, characters: message, command, tail, reason. */
export const MAX_TEXT_CHARACTERS = 16 * 1024;
/** Last lines of a command that its card shows, characters. */
export const TAIL_CHARACTERS = 2000;
/** Between two looks at the sessions of the executors while somebody views, milliseconds. */
export const LIST_SESSIONS_MS = 1000;
/** Output of a session that a recording has, bytes. */
export const MAX_RECORDING_BYTES = 64 * 1024 * 1024;
/** Calls of a session that are marked in its recording. */
export const MAX_MARKED_CALLS = 500;
/** File that is replayed, bytes. */
export const MAX_REPLAY_BYTES = 256 * 1024 * 1024;
/** Between two looks at the audit log while somebody views, milliseconds. */
export const READ_AUDIT_MS = 3000;
/** A server that fails is started again, this many times at most. */
export const MAX_RESTARTS = 5;
/** Heap of the server, MiB: it ends when it needs more, and is started again. */
export const SERVER_HEAP_MIB = 256;
/** For pages to take what they were not sent yet when a view is closed, milliseconds. */
export const LEAVE_MS = 1000;
/** For the server to close its connections, milliseconds. */
export const CLOSE_MS = 2000;
