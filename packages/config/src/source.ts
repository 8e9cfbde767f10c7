import { readlink } from "node:fs/promises";
import { readTomlFile, TomlFileError, type TomlTable } from "@codex/toml";
import { ConfigError } from "./config-error.js";
import type { FileLayer, Origin } from "./origin.js";
import { hasPath, mergeTables } from "./tables.js";

/** A table of settings, and the position of each of its keys. */
export interface Source {
  table: TomlTable;
  locate(path: readonly string[]): Origin;
}

/**
 * The settings of a file; undefined when there is no such file.
 * @throws ConfigError when it cannot be read, is too large or is not TOML; the message never quotes the file
 */
export async function readSource(file: string, layer: FileLayer): Promise<Source | undefined> {
  try {
    const read = await readTomlFile(file);
    if (read === undefined) return layer === "requirements" ? await refuseBrokenLink(file) : undefined;
    return { table: read.table, locate: (path) => ({ kind: "file", layer, file, ...read.findPlace(path) }) };
  } catch (error) {
    if (!(error instanceof TomlFileError)) throw error;
    throw new ConfigError(error.message, "invalid", { cause: error });
  }
}

/** What an administrator has linked is not merely missing. @throws ConfigError for a link that leads nowhere */
async function refuseBrokenLink(file: string): Promise<undefined> {
  const target = await readlink(file).catch(() => undefined);
  if (target === undefined) return;
  throw new ConfigError(
    `${file}: is a link to ${JSON.stringify(target)}, which does not exist, and may require something`,
  );
}

/** Later sources override earlier ones; a key's place is in the last source that has it. */
export const mergeSources = (sources: readonly Source[]): Source => ({
  table: sources.reduce<TomlTable>((merged, { table }) => mergeTables(merged, table), {}),
  locate: (path) => sources.findLast(({ table }) => hasPath(table, path))?.locate(path) ?? { kind: "default" },
});
