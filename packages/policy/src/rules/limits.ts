/** Largest rule file that is read, in bytes. */
export const MAX_RULE_FILE_BYTES = 1024 * 1024;

/** Most rule files in one layer. */
export const MAX_RULE_FILES_PER_LAYER = 256;

/** Most rules (after alternatives of the first token are expanded) one file may declare. */
export const MAX_RULES_PER_FILE = 20_000;
