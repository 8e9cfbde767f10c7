/** Memory of one chunk of output, bytes; the largest chunk of a pipe or terminal. */
export const CHUNK_SLAB_BYTES = 64 * 1024;

/** Sources of a host that read more than once in one turn of the event loop. */
export const SOURCES_PER_TURN = 4;

/** Terminals of a host that are read concurrently on the thread pool, which has four threads. */
export const MAX_BURST_READERS = 4;

/** Free slabs of one size that a host keeps for reuse, bytes. */
export const MAX_FREE_SLAB_BYTES = 1536 * 1024;

/** Pipes of a host that are enlarged at once, up to 1 MiB each. An ordinary user has 64 MB for the pipes of all their processes. */
export const MAX_ENLARGED_PIPES = 16;

/** Largest file that is read from the page cache without the thread pool, bytes. */
export const MAX_CACHED_READ_BYTES = 64 * 1024;

/** Unsent bytes of a connection that the kernel buffers; by default Linux buffers up to 4 MB. */
export const MAX_UNSENT_BYTES = 64 * 1024;

/** What the kernel buffers of a TCP connection to the same host, bytes; see docs/performance.md. */
export const LOCAL_SEND_BUFFER_BYTES = 512 * 1024;

/** Milliseconds after which the list of mounts is read again before a path is looked up. */
export const MAX_MOUNTS_AGE_MS = 1_000;

/** Symbolic links on the way to a path; the figure is the kernel's. */
export const MAX_LINKS_FOLLOWED = 40;

/** Bytes of one argument of a program, and of all; the figures are the kernel's: MAX_ARG_STRLEN, three quarters of its stack of 8 MiB. */
export const MAX_ARGUMENT_BYTES = 32 * 4096;
export const MAX_ARGUMENTS_BYTES = 6 * 1024 * 1024;

/** Bytes of a path; the figure is the kernel's PATH_MAX, without its NUL. */
export const MAX_PATH_BYTES = 4095;

/** Ended commands whose programs are still judged, because processes that left them may live on; then those without any are forgotten. */
export const MAX_ENDED_COMMANDS = 1024;

/** Programs of a command that are reported one by one, and characters of the words of each. */
export const MAX_REPORTED_PROGRAMS = 64;
export const MAX_REPORTED_CHARACTERS = 4096;

/** Milliseconds for which reports of programs are collected before they are passed on. */
export const REPORT_DELAY_MS = 20;

/** Threads of one command of which it is known what they were refused last. */
export const MAX_REFUSED_CALLERS = 256;
/** Milliseconds between two looks at the callers that wait for an answer. */
export const QUESTION_POLL_MS = 100;
/** Milliseconds after which the gate's thread looks whether it is to end, if nothing else happens. */
export const GATE_IDLE_MS = 1_000;

/** Programs of one gate that are outside of their sandboxes at a time. Each holds descriptors of its caller. */
export const MAX_LEAVING = 256;
/** Descriptors of a caller that a program outside inherits. */
export const MAX_PASSED_DESCRIPTORS = 256;
/** Of all programs of one gate that are about to start outside. */
export const MAX_HELD_DESCRIPTORS = 1024;
/** Words, or variables, of a program that leaves its sandbox. */
export const MAX_ALL_WORDS = 262_144;
/** Milliseconds between SIGTERM and SIGKILL for a program outside for which nobody waits any more. */
export const OUTSIDE_GRACE_MS = 500;
/** Milliseconds between two looks at whether the caller of a program outside is stopped. */
export const OUTSIDE_POLL_MS = 50;
