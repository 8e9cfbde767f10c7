/** Largest image that a model can view, bytes; the same as in the SDK's own sandboxes. */
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
