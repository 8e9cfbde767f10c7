/** Largest patch, bytes of UTF-8. */
export const MAX_PATCH_BYTES = 16 * 1024 * 1024;

/** Operations in one patch. */
export const MAX_OPERATIONS = 10_000;

/** Chunks in one patch, over all its operations. */
export const MAX_CHUNKS = 100_000;

/** Largest file that a patch changes or makes, bytes, before and after: what one message of an exec-server carries. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Steps of searching for the lines of one file's chunks; each compares two numbers. */
export const MAX_SEARCH_STEPS = 200_000_000;

/** Wrappers around a patch (a fence, a here-document, JSON) that are removed, one inside the other. */
export const MAX_WRAPPERS = 4;

/** Lines of a chunk that an error repeats. */
export const MAX_QUOTED_LINES = 40;

/** Characters of one line that an error repeats. */
export const MAX_QUOTED_CHARACTERS = 300;

/** Files that one answer tells a problem of. */
export const MAX_TOLD_PROBLEMS = 8;

/** Lines of a chunk, and places in the file for each of them, that are compared to find the nearest place. */
export const MAX_NEAREST_LINES = 200;
export const MAX_NEAREST_PLACES = 1_000;

/** Largest file, before or after, that a diff is made of, bytes. */
export const MAX_DIFF_BYTES = 256 * 1024;
