import { join } from "node:path";
import { readPlainFile } from "@codex/plain-file";
import { ConfigError } from "../config-error.js";
import { isTable } from "../tables.js";
import { findHandlerEvent, HOOKS_OFF, NO_HOOKS } from "./hooks.js";

/** Largest `hooks.json` that is read, in bytes. */
const MAX_HOOKS_BYTES = 1024 * 1024;

/**
 * Hooks also stand in a `hooks.json` beside a `config.toml`.
 * @throws ConfigError for one with hooks, or that cannot be read: there may be hooks in it
 */
export async function refuseHooksFiles(directories: Iterable<string>): Promise<void> {
  for (const directory of directories) {
    const file = join(directory, "hooks.json");
    const text = await readHooks(file);
    if (text === undefined) continue;
    const event = findHandlerEvent(parseHooks(file, text));
    if (event === undefined) continue;
    const line = text.slice(0, text.indexOf(JSON.stringify(event))).split("\n").length;
    throw new ConfigError(
      `${file}:${line}: \`hooks.${event}\` restricts in Codex and is not supported here: ${NO_HOOKS}; ${HOOKS_OFF}`,
    );
  }
}

async function readHooks(file: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await readPlainFile(file, { maxBytes: MAX_HOOKS_BYTES }));
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return;
    throw createUnread(file, error instanceof Error ? error.message : String(error));
  }
}

function parseHooks(file: string, text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return isTable(parsed) ? parsed.hooks : undefined;
  } catch {
    throw createUnread(file, "it is not JSON");
  }
}

const createUnread = (file: string, reason: string): ConfigError =>
  new ConfigError(`${file}: cannot be read, and its hooks may restrict: ${reason}; ${HOOKS_OFF}`);
