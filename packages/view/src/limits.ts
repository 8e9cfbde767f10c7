/** Concurrently connected pages. */
export const MAX_VIEWERS = 256;
/** Admitted viewers that may reconnect, such as by reloading the page; beyond it the oldest is removed. */
export const MAX_ADMITTED = 1024;
/** Unredeemed tokens; beyond it the oldest is removed, read-only ones first. */
export const MAX_TOKENS = 256;
/** Recordings of sessions that are made or sent at once, to all pages. */
export const MAX_RECORDINGS = 8;
/** Messages and output that a page was sent and has not read, above which its connection is closed, bytes. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** Body of an HTTP request, bytes. */
export const MAX_BODY_BYTES = 1024;
/** Message from a page, bytes. */
export const MAX_PAGE_MESSAGE_BYTES = 64 * 1024;
/** Characters typed or pasted at once. */
export const MAX_INPUT_CHARACTERS = 16 * 1024;
/** Words of a rule. */
export const MAX_RULE_WORDS = 64;
/** Sessions whose output one page follows concurrently. */
export const MAX_OPEN_SESSIONS = 16;
/** Unacknowledged output of a session, per page, bytes. */
export const UNACKNOWLEDGED_BYTES = 1024 * 1024;
/** Buffered bytes in the socket of a page, above which sending pauses. */
export const UNSENT_BYTES = 256 * 1024;
/** Output of a session kept by the view, bytes; older output is read from the executor again. */
export const KEPT_OUTPUT_BYTES = 2 * 1024 * 1024;
/**
 * The same once a program has written more than that within `KEPT_FLOOD_MS`, until it is slower. An executor in this process holds
 * that much in memory itself; more would keep the garbage collector busy, and the program's output out of the processor's cache.
 */
export const KEPT_FLOOD_BYTES = 256 * 1024;
export const KEPT_FLOOD_MS = 100;
/** Received output, of all sessions, after which the kept output is bounded again, bytes. */
export const BOUND_EVERY_BYTES = 1024 * 1024;
/** The same, for a session that a page reads. */
export const VIEWED_OUTPUT_BYTES = 32 * 1024 * 1024;
/** The same from the first output that a page has skipped until the program pauses: it skips again when it is this far behind. */
export const SAMPLED_OUTPUT_BYTES = 256 * 1024;
/** Output read ahead for a page that is slower than the program, bytes. */
export const AHEAD_BYTES = 24 * 1024 * 1024;
/** How long that goes on without a page, milliseconds, and the longest wait for output meanwhile. */
export const AHEAD_MS = 10_000;
export const AHEAD_WAIT_MS = 500;
/** Output kept of all sessions together, bytes. */
export const KEPT_OUTPUT_BYTES_IN_ALL = 64 * 1024 * 1024;
/** Largest part of the output read at once, bytes. */
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
/**
 * A program that writes more than `FLOOD_BYTES` within `FLOOD_WINDOW_MS` is faster than a page can follow. Until it is slower, pages
 * are sent parts of this size at this rate, bytes a second, of all pages together: 6 updates a second. Nobody can read more, and
 * drawing them takes processor time from the program.
 */
export const FLOOD_WINDOW_MS = 125;
export const FLOOD_BYTES = 256 * 1024;
export const FLOOD_PART_BYTES = 32 * 1024;
export const FLOOD_BYTES_PER_SECOND = 192 * 1024;
/** A program that has written nothing for this long is not busy: pages read on as fast as they can, milliseconds. */
export const QUIET_MS = 200;
/** Newest output that a page goes on with when what it would read next is not kept while the program writes on, bytes. */
export const SKIPPED_TO_BYTES = 128 * 1024;
/** Longest wait of one read for new output, milliseconds; the next one follows at once. */
export const READ_WAIT_MS = 25_000;
/** Shortest interval between two sent changes of an entity, milliseconds. */
export const PUBLISH_MS = 50;
/** The same of what changes with all output: last lines, bytes; and after more than `FLOOD_BYTES` of it. */
export const PUBLISH_OUTPUT_MS = 250;
export const PUBLISH_FLOOD_MS = 1000;
/** Entities of each kind; beyond it the oldest that is not live is removed. */
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
/** Last lines of output on the card of a command, characters. */
export const TAIL_CHARACTERS = 2000;
/** Interval of polling executors for sessions while a page is connected, milliseconds. */
export const LIST_SESSIONS_MS = 1000;
/** Output in the recording of a session, bytes. */
export const MAX_RECORDING_BYTES = 64 * 1024 * 1024;
/** Markers of calls in the recording of a session. */
export const MAX_MARKED_CALLS = 500;
/** Size of a replayed file, bytes. */
export const MAX_REPLAY_BYTES = 256 * 1024 * 1024;
/** Interval of checking the audit log for changes while a page is connected, milliseconds. */
export const READ_AUDIT_MS = 3000;
/** How often a failed server is restarted at most. */
export const MAX_RESTARTS = 5;
/** Heap limit of the server, MiB: when it needs more it is terminated and restarted. */
export const SERVER_HEAP_MIB = 256;
/** When a view is closed: time for pages to receive pending changes, milliseconds. */
export const LEAVE_MS = 1000;
/** Time for the server to close its connections, milliseconds. */
export const CLOSE_MS = 2000;

/** Lines about hosts of one command. */
export const MAX_SHOWN_HOSTS = 50;
/** Commands whose hosts are counted; one that was started earlier keeps what it shows. */
export const MAX_HOST_TALLIES = 256;
