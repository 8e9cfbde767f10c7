import { homedir } from "node:os";
import { join } from "node:path";

/** The user's own directory of settings. */
export const codexHome = (): string => process.env.CODEX_HOME || join(homedir(), ".codex");
