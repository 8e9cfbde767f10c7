import { chmod, mkdir, mkdtemp, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withFileLock } from "@codex/file-lock";
import { readPlainFile } from "@codex/plain-file";
import { MAX_TOML_FILE_BYTES, readTomlFile } from "@codex/toml";
import { messageOf } from "@codex/values";
import { EnvironmentsConfigError } from "./config-error.js";
import type { EnvironmentsConfig } from "./environment-config.js";
import { ENVIRONMENTS_FILE, loadEnvironments, OUR_ENVIRONMENTS_FILE } from "./load-environments.js";

/** An environment to write into a file. Members are named as in the file. */
export interface NewEnvironment {
  id: string;
  url?: string;
  program?: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  auth_bearer_token_file?: string;
  auth_bearer_token_env?: string;
  ca_file?: string;
  fallback?: string;
  eager?: boolean;
}

/**
 * Appends an environment to `environments.toml`, or to `environments-ts.toml` if Codex would reject it; with `isDefault` it becomes
 * the default. Nothing is written when the result would be invalid. Returns the file.
 * @throws EnvironmentsConfigError
 */
export const addEnvironment = (home: string, added: NewEnvironment, isDefault = false): Promise<string> =>
  alone(home, () => add(home, added, isDefault));

async function add(home: string, added: NewEnvironment, isDefault: boolean): Promise<string> {
  const name = needsOurs(added) ? OUR_ENVIRONMENTS_FILE : ENVIRONMENTS_FILE;
  const texts = await readTexts(home);
  const before = texts[name] ?? "";
  const end = before.includes("\r\n") ? "\r\n" : "\n";
  const gap = before === "" || before.endsWith(end + end) ? "" : before.endsWith(end) ? end : end + end;
  const text = `${before}${gap}${renderEnvironment(added).replaceAll("\n", end)}`;
  await replace(home, name, isDefault ? setDefault(text, added.id, end) : text);
  return join(home, name);
}

/**
 * Removes an environment and its extensions in `environments-ts.toml`. Returns the changed files; empty if there is no such environment.
 * @throws EnvironmentsConfigError if the rest would be invalid, as when removing the default
 */
export const removeEnvironment = (home: string, id: string): Promise<string[]> => alone(home, () => remove(home, id));

async function remove(home: string, id: string): Promise<string[]> {
  const texts = await readTexts(home);
  const changed: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) {
    const without = text === undefined ? undefined : await withoutEnvironment(join(home, name), text, id);
    if (without !== undefined && without !== text) changed[name] = without;
  }
  if (Object.keys(changed).length === 0) return [];
  const before = await loadEnvironments({ home, env: {} });
  const after = await check(home, { ...texts, ...changed }).catch((error: unknown) => {
    if (!(error instanceof EnvironmentsConfigError) || error.problem.key !== "default") throw error;
    throw new EnvironmentsConfigError({ ...error.problem, rule: "name another one, or remove this line, first" });
  });
  const expected = before.environments.map((each) => each.id).filter((each) => each !== id);
  if (JSON.stringify(after.environments.map((each) => each.id)) !== JSON.stringify(expected)) {
    throw new EnvironmentsConfigError({
      file: join(home, ENVIRONMENTS_FILE),
      rule: `\`${id}\` cannot be cut out of it: edit the file`,
    });
  }
  for (const [name, text] of Object.entries(changed)) {
    const file = join(home, name);
    if (text.trim() === "") await removeFile(file);
    else await write(file, text);
  }
  return Object.keys(changed).map((name) => join(home, name));
}

/** Runs `edit` while nobody else edits the files, which are read, changed and replaced as a whole. @throws EnvironmentsConfigError */
async function alone<T>(home: string, edit: () => Promise<T>): Promise<T> {
  const file = join(home, ENVIRONMENTS_FILE);
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    return await withFileLock(`${file}.lock`, {}, edit);
  } catch (error) {
    if (error instanceof EnvironmentsConfigError) throw error;
    throw new EnvironmentsConfigError({ file, rule: `it cannot be written: ${messageOf(error)}` }, { cause: error });
  }
}

const needsOurs = ({ id: _, program: _1, args: _2, env: _3, cwd: _4, url = "", ...ours }: NewEnvironment): boolean =>
  /^\s*ssh:/.test(url) || Object.values(ours).some((value) => value !== undefined);

type Texts = Readonly<Record<string, string | undefined>>;

async function readTexts(home: string): Promise<Texts> {
  const read = async (name: string) => {
    const file = join(home, name);
    try {
      return String(await readPlainFile(file, { maxBytes: MAX_TOML_FILE_BYTES }));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      // It would be replaced by a file without what it contains.
      throw new EnvironmentsConfigError({ file, rule: `it cannot be read: ${messageOf(error)}` }, { cause: error });
    }
  };
  return {
    [ENVIRONMENTS_FILE]: await read(ENVIRONMENTS_FILE),
    [OUR_ENVIRONMENTS_FILE]: await read(OUR_ENVIRONMENTS_FILE),
  };
}

async function replace(home: string, name: string, text: string): Promise<void> {
  await check(home, { ...(await readTexts(home)), [name]: text });
  await write(join(home, name), text);
}

/** Loads the edited files from a temporary directory; errors name the real files. */
async function check(home: string, texts: Texts): Promise<EnvironmentsConfig> {
  const trial = await mkdtemp(join(tmpdir(), "codex-environments-"));
  try {
    for (const [name, text] of Object.entries(texts)) {
      if (text !== undefined) await writeFile(join(trial, name), text, { mode: 0o600 });
    }
    return await loadEnvironments({ home: trial, env: {} });
  } catch (error) {
    if (!(error instanceof EnvironmentsConfigError)) throw error;
    const { file, ...rest } = error.problem;
    throw new EnvironmentsConfigError({
      ...rest,
      rule: rest.rule.replaceAll(trial, home),
      ...(file === undefined ? {} : { file: file.replace(trial, home) }),
    });
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

/** Even an empty file takes precedence over CODEX_EXEC_SERVER_URL. With a link also the file that it names goes. */
async function removeFile(file: string): Promise<void> {
  try {
    await rm(await realpath(file));
    await rm(file, { force: true });
  } catch (error) {
    throw new EnvironmentsConfigError({ file, rule: `it cannot be removed: ${messageOf(error)}` }, { cause: error });
  }
}

/** Replaces a file atomically, keeping its mode; a link to a file elsewhere stays one. @throws EnvironmentsConfigError */
async function write(file: string, text: string): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const next = `${target}.${process.pid}.new`;
  try {
    await writeFile(next, text, { mode });
    await chmod(next, mode);
    await rename(next, target);
  } catch (error) {
    throw new EnvironmentsConfigError({ file, rule: `it cannot be written: ${messageOf(error)}` }, { cause: error });
  } finally {
    await rm(next, { force: true }).catch(() => {});
  }
}

function renderEnvironment({ env, ...members }: NewEnvironment): string {
  const lines = Object.entries(members).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [`${key} = ${Array.isArray(value) ? `[${value.map(toToml).join(", ")}]` : toToml(value)}`],
  );
  const variables = Object.entries(env ?? {}).map(([name, value]) => `${toToml(name)} = ${toToml(value)}`);
  if (variables.length > 0) lines.push(`env = { ${variables.join(", ")} }`);
  return `[[environments]]\n${lines.join("\n")}\n`;
}

/** JSON strings are valid TOML strings, except for DEL. */
const toToml = (value: unknown): string => JSON.stringify(value).replaceAll("\x7f", "\\u007f");

function setDefault(marked: string, id: string, lineEnd: string): string {
  const text = marked.replace(/^\ufeff/, "");
  const line = `default = ${toToml(id)}`;
  const lines = text.split("\n");
  const end = lines.findIndex((each) => /^\s*\[/.test(each));
  const at = lines.findIndex((each, index) => index < end && /^\s*default\s*=/.test(each));
  if (at === -1) return `${line}${lineEnd}${text}`;
  lines[at] = lines[at]!.endsWith("\r") ? `${line}\r` : line;
  return lines.join("\n");
}

/**
 * Removes the tables of an environment: each from its header to its last member, before the next header that is not a subtable. Comments
 * after that stay: they may be about the next table.
 */
async function withoutEnvironment(file: string, text: string, id: string): Promise<string> {
  const read = await readTomlFile(file);
  const tables = Array.isArray(read?.table.environments) ? read.table.environments : [];
  const index = tables.findIndex(
    (table: unknown) => typeof table === "object" && table !== null && "id" in table && table.id === id,
  );
  const starts = [
    ...(index === -1 ? [] : [read?.findPlace(["environments", index])?.line]),
    ...(typeof read?.table.extend === "object" && Object.hasOwn(read.table.extend ?? {}, id)
      ? [read.findPlace(["extend", id])?.line]
      : []),
  ];
  const lines = text.split("\n");
  for (const start of starts.filter((line) => line !== undefined).sort((a, b) => b - a)) {
    const next = lines.findIndex(
      (line, at) => at >= start && /^\s*\[/.test(line) && !/^\s*\[\s*environments\s*\./.test(line),
    );
    const isMember = (line: string) => !/^\s*(?:#|$)/.test(line);
    const end = lines.slice(0, next === -1 ? lines.length : next).findLastIndex(isMember) + 1;
    const isSpaced = lines[end]?.trim() === "" && (start === 1 || lines[start - 2]?.trim() === "");
    lines.splice(start - 1, end - (start - 1) + (isSpaced ? 1 : 0));
  }
  return lines.join("\n");
}
