/** Limits of the file calls. */
export interface FileSystemLimits {
  /** Largest file that one `fs/readFile` returns, bytes. */
  maxReadFileBytes: number;
  /** Entries of one `fs/walk`, whatever the client asks for. */
  maxWalkEntries: number;
  /** Entries of one `fs/readDirectory`; a directory with more is an error. */
  maxDirectoryEntries: number;
}

/** Default limits; the size of a file is Codex's. A server whose channel carries smaller messages sets a smaller one. */
export const DEFAULT_FILE_SYSTEM_LIMITS: FileSystemLimits = {
  maxReadFileBytes: 512 * 1024 * 1024,
  maxWalkEntries: 200_000,
  maxDirectoryEntries: 500_000,
};

/** File handles of one connection. This figure and the next two are those of Codex. */
export const MAX_OPEN_HANDLES = 128;

/** Length of a handle's id, bytes. */
export const MAX_HANDLE_ID_BYTES = 32;

/** One `fs/readBlock` or `fs/writeBlock`, bytes. */
export const MAX_BLOCK_BYTES = 1024 * 1024;

/** Paths of one `fs/watchMissing`; Codex accepts 64 and not 65. */
export const MAX_WATCHED_PATHS = 64;

/** Directories watched for one `fs/watchMissing`: the ancestors of its paths. */
export const MAX_WATCHED_DIRECTORIES = 512;

/** Reading calls of one connection that run concurrently; the others are queued. */
export const MAX_CONCURRENT_READS = 8;

/** Unreadable directories that one `fs/walk` reports individually. */
export const MAX_WALK_ERRORS = 1000;

/** Entries of a directory up to which listing it needs no memory budget, and what listing more of them takes, bytes. */
export const LARGE_LISTING_ENTRIES = 2_048;
export const LARGE_LISTING_BYTES = 32 * 1024 * 1024;

/** Buffer for one `getdents64` call, bytes: about two thousand entries. */
export const DIRECTORY_RECORDS_BYTES = 64 * 1024;

/** Names of one directory that a walk sorts beyond those it still has room for. */
export const SORT_SLACK = 1024;

/** Size of one read while a file is loaded into memory, bytes. */
export const READ_STEP_BYTES = 16 * 1024 * 1024;

/** Interval of polling whether another writer of a file has ended, milliseconds. */
export const SIBLING_POLL_MS = 5;

/** Milliseconds without a change after which the copy that a writer keeps counts as left behind by a killed one. */
export const ABANDONED_SIBLING_MS = 2_000;

/** Longest wait for other writers of a file, milliseconds. */
export const MAX_SIBLING_WAIT_MS = 10_000;

/** Size of one step while the content of a file is copied, bytes. */
export const COPY_STEP_BYTES = 1024 * 1024;

/** First allocation for a file of unknown size, such as those of /proc, bytes. */
export const UNKNOWN_SIZE_BYTES = 64 * 1024;

/** Symbolic links followed for one path before it counts as a loop; the figure is Linux's. */
export const MAX_LINKS = 40;

/** Largest list of mounts, bytes; with a larger one nothing is served from the page cache. */
export const MAX_MOUNTS_BYTES = 256 * 1024;

/** Times a directory is listed again because entries were added while it was being removed. */
export const MAX_REMOVE_PASSES = 8;

/** Subdirectories of one directory kept in memory while a tree is removed; it is listed again for the others. */
export const MAX_LISTED_SUBDIRECTORIES = 512;
