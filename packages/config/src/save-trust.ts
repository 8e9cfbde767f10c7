import { randomUUID } from "node:crypto";
import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withFileLock } from "@codex/file-lock";
import { readPlainFile } from "@codex/plain-file";
import { MAX_TOML_FILE_BYTES, readTomlFile } from "@codex/toml";
import { messageOf } from "@codex/values";
import { ConfigError } from "./config-error.js";
import type { Project } from "./trust.js";

/**
 * Marks a project as trusted in the user's `config.toml`. `kept`: it already has a trust level, which is not changed; an untrusted one
 * stays untrusted.
 * @throws ConfigError when the file cannot be changed; it is left unchanged then
 */
export async function saveTrust(home: string, project: Pick<Project, "toMark" | "trust">): Promise<"saved" | "kept"> {
  if (project.trust !== undefined) return "kept";
  const file = await realpath(join(home, "config.toml")).catch(() => join(home, "config.toml"));
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return await withFileLock(`${file}.lock`, {}, () => addTrust(file, project.toMark));
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    const reason = messageOf(cause);
    throw new ConfigError(`${file}: the project cannot be marked as trusted: ${reason}`);
  }
}

async function addTrust(file: string, path: string): Promise<"saved" | "kept"> {
  const before = await readPlainFile(file, { maxBytes: MAX_TOML_FILE_BYTES }).then(
    String,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    },
  );
  const known = getTable(await readTomlFile(file), path);
  if (known?.trust_level !== undefined) return "kept";
  const end = before.includes("\r\n") ? "\r\n" : "\n";
  const gap = before === "" || before.endsWith(end + end) ? "" : before.endsWith(end) ? end : end + end;
  const header = `[projects.${JSON.stringify(path).replaceAll("\x7f", "\\u007f")}]`;
  const text =
    known === undefined
      ? `${before}${gap}${header}${end}trust_level = "trusted"${end}`
      : before.replace(header, () => `${header}${end}trust_level = "trusted"`);
  await replace(file, text, path);
  return "saved";
}

/** Replaces the file atomically, after checking that the new text has the setting. */
async function replace(file: string, text: string, path: string): Promise<void> {
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const next = `${file}.${randomUUID()}.new`;
  try {
    await writeFile(next, text, { mode });
    await chmod(next, mode);
    const isTrusted = await readTomlFile(next).then(
      (read) => getTable(read, path)?.trust_level === "trusted",
      () => false,
    );
    if (!isTrusted) {
      throw new ConfigError(
        `${file}: the project cannot be added to \`projects\` as that is written there: add projects.${JSON.stringify(path)}.trust_level = "trusted" by hand`,
      );
    }
    await rename(next, file);
  } finally {
    await rm(next, { force: true });
  }
}

function getTable(read: Awaited<ReturnType<typeof readTomlFile>>, path: string): Record<string, unknown> | undefined {
  const projects = asTable(read?.table.projects);
  return projects !== undefined && Object.hasOwn(projects, path) ? asTable(projects[path]) : undefined;
}

const asTable = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
