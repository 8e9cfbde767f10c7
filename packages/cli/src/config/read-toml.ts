import { readFile, stat } from "node:fs/promises";
import { messageOf } from "@codex/telemetry";
import { parse, TomlError } from "smol-toml";
import { EXIT } from "../exit-codes.js";
import { ConfigError } from "./config-error.js";
import { findKey } from "./find-key.js";
import { MAX_CONFIG_FILE_BYTES } from "./limits.js";
import type { FileLayer, Origin } from "./origin.js";

export type Table = Readonly<Record<string, unknown>>;

/** A table of settings, and the position of each of its keys. */
export interface Source {
  table: Table;
  locate(path: readonly string[]): Origin;
}

/**
 * Undefined when there is no such file.
 * @throws ConfigError when it cannot be read, is too large or is no TOML; the text of the file is not repeated
 */
export async function readToml(file: string, layer: FileLayer): Promise<Source | undefined> {
  const text = await readText(file);
  if (text === undefined) return undefined;
  const locate = (path: readonly string[]): Origin => ({ kind: "file", layer, file, ...findKey(text, path) });
  return { table: parseTable(text, file), locate };
}

async function readText(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    if (size > MAX_CONFIG_FILE_BYTES) {
      throw new ConfigError(`${file}: the file has ${size} bytes, the limit is ${MAX_CONFIG_FILE_BYTES} bytes`);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (isMissing(error)) return undefined;
    const reason = messageOf(error);
    throw new ConfigError(`${file}: cannot be read: ${reason}`, EXIT.failure, { cause: error });
  }
}

function parseTable(text: string, file: string): Table {
  try {
    return parse(text, { integersAsBigInt: "asNeeded", unsafeKeyBehaviour: "throw" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Its message continues with the lines around the error, which may hold secrets.
    const [first = ""] = error.message.split("\n");
    const reason = first.replace(/^Invalid TOML document: /, "");
    throw new ConfigError(`${file}:${error.line}:${error.column}: ${explain(reason, text, error)}`);
  }
}

/** The reason, and the most likely mistake. Nothing of the text is repeated. */
function explain(reason: string, text: string, { line, column }: TomlError): string {
  const rest = (text.split("\n")[line - 1] ?? "").replace(/\r$/, "").slice(column - 1);
  if (reason === "unfinished string") return "the string that begins here is not closed: its last quotes are missing";
  if (/^control characters/.test(reason) && rest === "") {
    return "the string is not closed on its line: a quote is missing at its end";
  }
  if (reason === "invalid value" && /^[\p{L}\u2018-\u201f~/.]/u.test(rest)) {
    return 'invalid value: text stands in straight quotes, as in key = "text"';
  }
  return reason;
}

/** The value of `-c key=value`: TOML, else the text itself, without quotes around it. */
export function parseFlagValue(text: string): unknown {
  try {
    return parse(`value = ${text}`, { integersAsBigInt: "asNeeded", unsafeKeyBehaviour: "throw" }).value;
  } catch {
    return text.replace(/^["']+|["']+$/g, "");
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
