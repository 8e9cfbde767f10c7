/** Most directories from a project's root to the current one whose configuration is read. */
export const MAX_PROJECT_LAYERS = 64;
/** Longest value shown in a message about it, UTF-16 units. */
export const MAX_SHOWN_VALUE = 120;
