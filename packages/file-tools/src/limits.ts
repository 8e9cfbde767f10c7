/** Total bytes of the files of one patch, before it is applied. */
export const MAX_PATCHED_BYTES = 128 * 1024 * 1024;

/** Files listed in the report on a patch that could not be rolled back. */
export const MAX_REPORTED_FILES = 100;

/** Maximum size of an image, bytes. */
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024;

/** Maximum width and height of an image, pixels. */
export const MAX_IMAGE_SIDE = 8192;

/** Most lines of a file that are read at once. */
export const MAX_READ_LINES = 2_000;

/** Most characters of lines that are read at once, but for the first line. */
export const MAX_READ_CHARS = 200_000;

/** Longest line that is read, characters; what is left out is told. */
export const MAX_LINE_CHARS = 2_000;

/** Most entries of a listing. */
export const MAX_LISTED_ENTRIES = 2_000;
