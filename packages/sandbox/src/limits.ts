/** Files that the patterns of one sandbox may name together. Codex 0.169.0 has the same bound. */
export const MAX_PATTERN_MATCHES = 8_192;

/** Directory entries that are looked at to find what the patterns of one sandbox name. */
export const MAX_PATTERN_ENTRIES = 200_000;

/** Mounts of one sandbox: each takes time at every start, and bubblewrap takes 9,000 arguments. */
export const MAX_MOUNTS = 2_000;

/** Milliseconds that the trial run of the preflight may take. */
export const TRIAL_DEADLINE_MS = 10_000;

/** Bytes of the status that bubblewrap tells; it writes two short lines. */
export const MAX_STATUS_BYTES = 4_096;

/** Tries to get hold of a directory that keeps a name free, each a millisecond after the one before. */
export const MAX_PLACEHOLDER_TRIES = 100;

/** Milliseconds in which the last process of a sandbox is expected to be gone after its wrapper. */
export const NAMESPACE_END_DEADLINE_MS = 5_000;

/** Bytes of a `.git` file that are read: a path has 4,096 at most. */
export const MAX_FIRST_LINE_BYTES = 8_192;

/** Milliseconds in which bubblewrap is expected to have made its mounts, where they are looked at before the start. */
export const MOUNTS_DEADLINE_MS = 10_000;

/** Times that paths are looked at anew because they changed while a sandbox was made. */
export const MAX_RESOLVE_TRIES = 10;

/** Milliseconds that mounts of the making itself may stay among those of a sandbox before they count as wrong. */
export const SETTLE_DEADLINE_MS = 500;

/** Names in opened git directories that are looked at for links when their sandbox ends. */
export const MAX_GIT_NAMES = 500_000;

/** Names in the directories of one sandbox that are made anew because a closed file lies in them; each is a mount of 0.15 ms. */
export const MAX_MIRRORED = 256;

/** Closed paths of one sandbox that are watched for being replaced; the host has a limit for all (fs.inotify.max_user_watches). */
export const MAX_WATCHED = 128;
