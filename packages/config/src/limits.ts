/** Most directories from a project's root to the current one whose configuration is read. */
export const MAX_PROJECT_LAYERS = 64;
/** Longest `.git` file of a worktree, and `gitdir` file of its checkout, bytes: one path. */
export const MAX_GIT_FILE_BYTES = 64 * 1024;
/** Longest value shown in a message about it, UTF-16 units. */
export const MAX_SHOWN_VALUE = 120;
