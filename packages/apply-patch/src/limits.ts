/** Maximum size of a patch, bytes of UTF-8. */
export const MAX_PATCH_BYTES = 16 * 1024 * 1024;

/** Operations in one patch. */
export const MAX_OPERATIONS = 10_000;

/** Chunks in one patch, over all its operations. */
export const MAX_CHUNKS = 100_000;

/** Maximum size of a file, bytes, before and after a patch: the limit of one exec-server message. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Search steps per file; each compares two numbers. */
export const MAX_SEARCH_STEPS = 200_000_000;

/** Nested wrappers around a patch (code fence, here-document, JSON) that are removed. */
export const MAX_WRAPPERS = 4;

/** Lines of a chunk quoted in an error. */
export const MAX_QUOTED_LINES = 40;

/** Characters of one line quoted in an error. */
export const MAX_QUOTED_CHARACTERS = 300;

/** Problems listed in one result. */
export const MAX_LISTED_PROBLEMS = 8;

/** Lines of a chunk, and positions in the file for each, compared to find the closest match. */
export const MAX_NEAREST_LINES = 200;
export const MAX_NEAREST_PLACES = 1_000;

/** Maximum size of a file in a diff, before or after, bytes. */
export const MAX_DIFF_BYTES = 256 * 1024;
