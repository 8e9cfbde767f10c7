/** Files that the patterns of one sandbox may match in total. Codex 0.169.0 has the same bound. */
export const MAX_PATTERN_MATCHES = 8_192;

/** Directory entries that are searched for matches of the patterns of one sandbox. */
export const MAX_PATTERN_ENTRIES = 200_000;

/** Names in one denied directory, and in those within it, that are searched for links. */
export const MAX_LINK_NAMES = 1_000;

/** Levels of directories that are searched for them, the denied one included. */
export const MAX_LINK_LEVELS = 4;

/** Mounts of one sandbox: each takes time at every start, and bubblewrap takes 9,000 arguments. */
export const MAX_MOUNTS = 2_000;

/** Milliseconds that the trial run of the preflight may take. */
export const TRIAL_DEADLINE_MS = 10_000;

/** Bytes of the status that bubblewrap reports; it writes two short lines. */
export const MAX_STATUS_BYTES = 4_096;

/**
 * Milliseconds within which a placeholder should be locked. Another sandbox may be removing it, which takes more than 100 ms
 * on a busy machine.
 */
export const PLACEHOLDER_DEADLINE_MS = 5_000;

/** Milliseconds within which the last process of a sandbox should be gone after its wrapper. */
export const NAMESPACE_END_DEADLINE_MS = 5_000;

/** Bytes of a `.git` file that are read: a path has 4,096 at most. */
export const MAX_FIRST_LINE_BYTES = 8_192;

/** Largest index or configuration of a repository that is searched for submodules, bytes: 100,000 files or so. */
export const MAX_INDEX_BYTES = 16 * 1024 * 1024;

/** Parsed files that are remembered. */
export const MAX_PARSED_FILES = 512;

/** Submodules of one repository whose `.git` is protected, each by a mount or two; and directories that are searched for them. */
export const MAX_SUBMODULES = 256;
export const MAX_SUBMODULE_DIRECTORIES = 4_096;

/** Files of git's configuration that are included for one sandbox, and words of one command in them. */
export const MAX_GIT_INCLUDES = 64;
export const MAX_GIT_WORDS = 256;

/** Names of one sandbox that are watched instead of reserved, each by a descriptor; further ones are reserved. */
export const MAX_FREE_NAMES = 64;

/** Milliseconds within which bubblewrap should have made its mounts, where they are verified before the start. */
export const MOUNTS_DEADLINE_MS = 10_000;

/** Attempts to resolve paths that change while a sandbox is created. */
export const MAX_RESOLVE_TRIES = 10;

/** Milliseconds that temporary mounts of bubblewrap itself may remain before they count as wrong. */
export const SETTLE_DEADLINE_MS = 500;

/** Names in writable git directories that are searched for symbolic links when their sandbox ends. */
export const MAX_GIT_NAMES = 500_000;

/** Entries of the directories that one sandbox mirrors because a denied file is in them; each is a mount, which takes 0.15 ms. */
export const MAX_MIRRORED = 256;

/** Protected paths of one sandbox that are watched for replacement; the host limits all watches (fs.inotify.max_user_watches). */
export const MAX_WATCHED = 128;

/**
 * Milliseconds that the end of a sandboxed command waits until placeholders, and links that the command left in git directories, are
 * removed, where they are on a network or FUSE mount.
 */
export const MAX_RELEASE_MS = 1_000;

/** Milliseconds that the start of a sandboxed command waits for mounts that it only mirrors; those that do not answer are left out. */
export const MAX_MIRROR_WAIT_MS = 500;

/** Interval of polling whether the program of a sandbox has ended, milliseconds: its first process, which reports the end, may be stopped. */
export const PROGRAM_POLL_INTERVAL_MS = 1_000;

/** Milliseconds within which the sockets of a session's network are opened. */
export const NETWORK_DEADLINE_MS = 20_000;
/** Bytes of the errors of the program that opens them. */
export const MAX_HOLDER_ERROR_BYTES = 2048;
