/** Bytes of a prompt, what came over stdin included. */
export const MAX_PROMPT_BYTES = 32 * 1024 * 1024;

/** Bytes of one image that is sent along. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** Bytes of a file with a JSON schema. */
export const MAX_SCHEMA_BYTES = 1024 * 1024;

/** Milliseconds after which the user is told that stdin is being waited for. */
export const STDIN_NOTICE_MS = 2_000;

/** Columns of the line between the header and the conversation. */
export const RULE_COLUMNS = 8;

/** Characters of the input of a tool call that are shown. */
export const SHOWN_INPUT_CHARS = 2_000;
