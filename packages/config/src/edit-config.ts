import { randomUUID } from "node:crypto";
import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { withFileLock } from "@codex/file-lock";
import { readPlainFile } from "@codex/plain-file";
import { MAX_TOML_FILE_BYTES, readTomlFile, renderKeyPath, type TomlTable } from "@codex/toml";
import { messageOf } from "@codex/values";
import { ConfigError } from "./config-error.js";
import { isTable } from "./tables.js";

/** A setting to be written: the table that it is in, its key, and its value. */
export interface ConfigEdit {
  readonly table: readonly string[];
  readonly key: string;
  readonly value: string;
}

/**
 * Writes settings into the user's `config.toml`, of which everything else stays as it is. `kept`: they are there.
 * @param decide the settings, from what is in the file
 * @param what is being done, for errors
 * @throws ConfigError when the file cannot be changed; it is left unchanged then
 */
export const editUserConfig = (
  home: string,
  decide: (table: TomlTable) => readonly ConfigEdit[],
  what: string,
): Promise<"saved" | "kept"> =>
  rewriteUserConfig(
    home,
    (text, before) => {
      const edits = decide(before).filter(({ table, key, value }) => tableAt(before, table)?.[key] !== value);
      const [first] = edits;
      if (first === undefined) return undefined;
      const path = renderKeyPath([...first.table, first.key]);
      return {
        text: edits.reduce((written, each) => write(written, each, tableAt(before, each.table)), text),
        table: edits.reduce(withEdit, before),
        byHand: `${path} cannot be set as that table is written there: add ${path} = ${JSON.stringify(first.value)} by hand`,
      };
    },
    what,
  );

/** A file as it is to be. */
export interface Rewritten {
  readonly text: string;
  /** What the text must amount to. */
  readonly table: TomlTable;
  /** Tells the user what to do if it does not. */
  readonly byHand: string;
}

/**
 * Replaces the user's `config.toml`, one writer at a time.
 * @param rewrite undefined: nothing is to be changed
 * @param what is being done, for errors
 * @throws ConfigError when the file cannot be changed; it is left unchanged then
 */
export async function rewriteUserConfig(
  home: string,
  rewrite: (text: string, table: TomlTable) => Rewritten | undefined,
  what: string,
): Promise<"saved" | "kept"> {
  const file = await realpath(join(home, "config.toml")).catch(() => join(home, "config.toml"));
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return await withFileLock(`${file}.lock`, {}, async () => {
      const text = await readPlainFile(file, { maxBytes: MAX_TOML_FILE_BYTES }).then(
        String,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "ENOENT") return "";
          throw error;
        },
      );
      const rewritten = rewrite(text, (await readTomlFile(file))?.table ?? {});
      if (rewritten === undefined) return "kept";
      await replace(file, rewritten);
      return "saved";
    });
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError(`${file}: ${what}: ${messageOf(cause)}`);
  }
}

/** The text with the setting in its table, which may be new. */
function write(text: string, { table, key, value }: ConfigEdit, known: TomlTable | undefined): string {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const header = `[${renderKeyPath(table)}]`;
  const line = `${key} = ${JSON.stringify(value)}`;
  if (known === undefined && !text.includes(header)) {
    const gap = text === "" || text.endsWith(end + end) ? "" : text.endsWith(end) ? end : end + end;
    return `${text}${gap}${header}${end}${line}${end}`;
  }
  if (known?.[key] === undefined) return text.replace(header, () => `${header}${end}${line}`);
  const from = text.indexOf(header);
  const rest = text.slice(from);
  const old = `${key} = ${JSON.stringify(known[key])}`;
  return from < 0 ? text : `${text.slice(0, from)}${rest.replace(old, () => line)}`;
}

/** Replaces the file atomically, after checking that the new text says what it should. */
async function replace(file: string, { text, table, byHand }: Rewritten): Promise<void> {
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const next = `${file}.${randomUUID()}.new`;
  try {
    await writeFile(next, text, { mode });
    await chmod(next, mode);
    const read = await readTomlFile(next).then(
      (found) => found?.table,
      () => undefined,
    );
    if (read === undefined || !isDeepStrictEqual(plain(read), plain(table)))
      throw new ConfigError(`${file}: ${byHand}`);
    await rename(next, file);
  } finally {
    await rm(next, { force: true });
  }
}

/** Compares tables by their content. */
const plain = (table: TomlTable): unknown => JSON.parse(JSON.stringify(table));

const withEdit = (before: TomlTable, { table, key, value }: ConfigEdit): TomlTable => {
  const [first, ...rest] = table;
  if (first === undefined) return { ...before, [key]: value };
  const inner = Object.hasOwn(before, first) ? before[first] : undefined;
  return { ...before, [first]: withEdit(isTable(inner) ? inner : {}, { table: rest, key, value }) };
};

/** The table at a path; undefined if there is none. */
export function tableAt(table: TomlTable, path: readonly string[]): TomlTable | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return table;
  const inner = Object.hasOwn(table, first) ? table[first] : undefined;
  return isTable(inner) ? tableAt(inner, rest) : undefined;
}
