/** Largest image that a model is shown, bytes; the limit of the SDK's own sandboxes. */
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
