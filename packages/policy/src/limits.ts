/** Largest rule that is proposed to a person, in bytes of its tokens. */
export const MAX_PROPOSED_RULE_BYTES = 4096;

/** Longest unfinished line typed into a shell that is analyzed, in UTF-16 units. */
export const MAX_TYPED_LINE = 64 * 1024;

/** Most characters that the keys of typed lines move or copy; input with more needs approval. */
export const MAX_KEY_MOVES = 1024 * 1024;

/** Most that the history expansion of typed lines reads and inserts: characters, and lines that are searched. */
export const MAX_RECALL = 1024 * 1024;

/** How much of what was typed into a shell before is remembered, in UTF-16 units. */
export const MAX_TYPED_HISTORY = 16 * 1024;

/** Most paths of one command that are compared with what a sandbox would close; long ones count as several. */
export const MAX_CLOSED_EFFORT = 50_000;

/** UTF-16 units of a path that take about as long as comparing a short one. */
export const CHARACTERS_PER_EFFORT = 64;
