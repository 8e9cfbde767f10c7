import { homedir } from "node:os";
import { join } from "node:path";

/** The user's directory of settings: `$CODEX_HOME`, else `~/.codex`. */
export const codexHome = (): string => process.env.CODEX_HOME || join(homedir(), ".codex");
