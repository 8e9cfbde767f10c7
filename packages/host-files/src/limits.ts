/** Bounds of the file calls. */
export interface FileSystemLimits {
  /** Largest file that one `fs/readFile` answers with, bytes. */
  maxReadFileBytes: number;
  /** Entries of one `fs/walk`, whatever the client asks for. */
  maxWalkEntries: number;
  /** Entries of one `fs/readDirectory`; a directory with more is an error. */
  maxDirectoryEntries: number;
}

/** The figure for files is Codex's. A server whose channel carries less than its base64 sets a smaller one. */
export const DEFAULT_FILE_SYSTEM_LIMITS: FileSystemLimits = {
  maxReadFileBytes: 512 * 1024 * 1024,
  maxWalkEntries: 200_000,
  maxDirectoryEntries: 500_000,
};

/** File handles of one connection; the figure is Codex's, as the next two. */
export const MAX_OPEN_HANDLES = 128;

/** Length of a handle's id, bytes. */
export const MAX_HANDLE_ID_BYTES = 32;

/** One `fs/readBlock` or `fs/writeBlock`, bytes. */
export const MAX_BLOCK_BYTES = 1024 * 1024;

/** Paths of one `fs/watchMissing`; Codex takes 64 and not 65. */
export const MAX_WATCHED_PATHS = 64;

/** Directories watched for one `fs/watchMissing`: the ancestors of its paths. */
export const MAX_WATCHED_DIRECTORIES = 512;

/** File calls of one connection that only read and run at once; the others wait their turn. */
export const MAX_CONCURRENT_READS = 8;

/** Directories of one `fs/walk` that could not be read and are told one by one. */
export const MAX_WALK_ERRORS = 1000;

/** Entries of a directory that are read at once, bytes: about two thousand. */
export const DIRECTORY_RECORDS_BYTES = 64 * 1024;

/** Names of one directory that are kept for sorting beyond those a walk still has room for. */
export const SORT_SLACK = 1024;

/** One read of a file on the way into memory, bytes. */
export const READ_STEP_BYTES = 16 * 1024 * 1024;

/** First allocation for a file that does not tell its size, bytes. */
export const UNKNOWN_SIZE_BYTES = 64 * 1024;

/** Symbolic links followed for one path before it counts as a loop; the figure is Linux's. */
export const MAX_LINKS = 40;

/** The list of the mounts of this process, bytes; a process with more has no file calls that are answered at once. */
export const MAX_MOUNTS_BYTES = 256 * 1024;

/** Times a directory is looked at anew when something was put into it while it was removed. */
export const MAX_REMOVE_PASSES = 8;

/** Directories of one directory that are remembered while a tree is removed; it is listed again for the others. */
export const MAX_LISTED_SUBDIRECTORIES = 512;
