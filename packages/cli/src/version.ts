/** The version of the packages; they are released together. A test compares it with package.json. */
export const VERSION = "0.1.0";

/** Distinguishes this program from OpenAI's `codex`, which may be on the same host. */
export const VERSION_LINE = `codex (TypeScript) ${VERSION}`;
