import { hostname } from "node:os";
import { posix } from "node:path";
import { RpcError } from "@codex/channel";
import type { ConfigLayers, ConfigReadParams, ConfigReadResult, TomlPath } from "@codex/exec-server-protocol";
import { ERROR_CODES, toFileUrl } from "@codex/exec-server-protocol";
import { readWholeFile } from "@codex/host-files";
import { messageOf } from "@codex/values";
import { getCodexHome, getHome } from "./environment-info.js";

/** Parses and serializes TOML. Integers, floats and dates must survive a round trip. */
export interface TomlCodec {
  parse(text: string): Record<string, unknown>;
  stringify(table: Record<string, unknown>): string;
}

/** Serves `environmentConfig/read`: the requested parts of this host's Codex configuration. */
export interface ConfigReader {
  /** @throws RpcError -32603 for a file that cannot be read or parsed */
  read(params: ConfigReadParams): Promise<ConfigReadResult>;
}

/** Options of `createConfigReader`. */
export interface ConfigReaderOptions {
  toml: TomlCodec;
  /** Environment that locates the user's folder: `CODEX_HOME`, else `.codex` in `HOME`. Default: that of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Directory of the configuration of the host; default `/etc/codex`. */
  systemDirectory?: string;
}

/** Creates a reader of the configuration files of this host. */
export function createConfigReader(options: ConfigReaderOptions): ConfigReader {
  const { toml, env = process.env, systemDirectory = "/etc/codex" } = options;
  const home = getHome(env);
  const codexHome = getCodexHome(env);
  const inSystem = (name: string) => posix.join(systemDirectory, name);
  const systemFile = inSystem("config.toml");
  const userFile = posix.join(codexHome, "config.toml");
  const managedFile = inSystem("managed_config.toml");
  const requirementsFile = inSystem("requirements.toml");
  return {
    read: async ({ configPaths, requirementsPaths }) => ({
      userHomeDir: toFileUrl(home),
      codexHomeDir: toFileUrl(codexHome),
      hostname: hostname(),
      config: await readLayers(toml, configPaths, [
        { file: systemFile, source: `system (${systemFile})`, isSystem: true },
        { file: userFile, source: `user (${userFile})`, isSystem: false },
        { file: managedFile, source: `legacy managed_config.toml (${managedFile})`, isSystem: false },
      ]),
      requirements: await readLayers(toml, requirementsPaths, [
        { file: requirementsFile, source: requirementsFile, isSystem: true },
      ]),
    }),
  };
}

interface LayerFile {
  file: string;
  source: string;
  /** Has lower precedence than the layers that the client inserts. */
  isSystem: boolean;
}

/** Largest configuration file, bytes. */
const MAX_CONFIG_BYTES = 8 * 1024 * 1024;

async function readLayers(
  toml: TomlCodec,
  paths: readonly TomlPath[],
  files: readonly LayerFile[],
): Promise<ConfigLayers> {
  const layers: ConfigLayers = { layers: [], cloudInsertionIndex: 0 };
  if (paths.length === 0) return layers;
  for (const { file, source, isSystem } of files) {
    const table = await readTable(toml, file);
    const selected = table === undefined ? undefined : selectPaths(table, paths);
    if (selected === undefined) continue;
    layers.layers.push({ source, baseDir: toFileUrl(posix.dirname(file)), toml: toml.stringify(selected) });
    if (isSystem) layers.cloudInsertionIndex += 1;
  }
  return layers;
}

/** The content of a file, or undefined where there is none. */
async function readTable(toml: TomlCodec, file: string): Promise<Table | undefined> {
  try {
    return toml.parse((await readWholeFile(file, true, MAX_CONFIG_BYTES)).toString());
  } catch (error) {
    if (error instanceof RpcError && error.code === ERROR_CODES.notFound) return undefined;
    // Only the first line: the others quote the file, which may hold secrets.
    const reason = messageOf(error).split("\n", 1)[0];
    throw new RpcError(ERROR_CODES.internal, `failed to load executor-local config: ${file}: ${reason}`, {
      cause: error,
    });
  }
}

type Table = Record<string, unknown>;

/** The values at the paths, nested in their tables; undefined if there are none. A path ends at the first value that is not a table. */
export function selectPaths(table: Table, paths: readonly TomlPath[]): Table | undefined {
  const selected = createTable();
  for (const path of paths) selectPath(table, path, selected);
  return Object.keys(selected).length === 0 ? undefined : selected;
}

function selectPath(table: Table, [key, ...rest]: TomlPath, into: Table): boolean {
  if (key === undefined || !Object.hasOwn(table, key)) return false;
  const value = table[key];
  if (rest.length === 0 || !isTable(value)) {
    into[key] = value;
    return true;
  }
  const former = into[key];
  if (former === value) return true; // selected completely by another path
  const inner = isTable(former) ? former : createTable();
  const found = selectPath(value, rest, inner);
  if (found) into[key] = inner;
  return found;
}

/** Without a prototype, since a key may have the name of one of its members. */
const createTable = (): Table => Object.create(null);

/** Dates and arrays are values, not tables. */
const isTable = (value: unknown): value is Table => Object.prototype.toString.call(value) === "[object Object]";
