/** Memory that one chunk of output lies in, bytes; the largest chunk of a pipe or terminal. */
export const CHUNK_SLAB_BYTES = 64 * 1024;

/** Terminals of a host that are read on in one turn of the event loop when there is more than one read gives. */
export const SOURCES_PER_TURN = 4;

/** Terminals of a host that are read on the thread pool at once; it has four threads. */
export const MAX_FLOODS = 4;

/** Slabs of a host that are kept to be used again. */
export const MAX_FREE_SLABS = 16;

/** A file that is read without the thread pool where it is in memory, bytes. */
export const AT_ONCE_BYTES = 64 * 1024;

/** What the kernel holds of a connection that cannot be sent yet, bytes; Linux allows itself 4 MB. */
export const MAX_UNSENT_BYTES = 64 * 1024;
