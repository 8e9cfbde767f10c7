import { VERSION } from "@codex/servers";

/** Distinguishes this program from OpenAI's `codex`, which may be on the same host. */
export const VERSION_LINE = `codex (TypeScript) ${VERSION}`;
