import { PlainFileError, readPlainFileSync } from "@codex/plain-file";
import { messageOf } from "@codex/values";
import { parse, TomlError } from "smol-toml";
import { createKeyFinder, type KeyPath, type Place } from "./find-key.js";
import { MAX_TOML_FILE_BYTES } from "./limits.js";
import { TomlFileError } from "./toml-error.js";

/** A TOML table with values as `smol-toml` returns them; integers beyond the safe range of numbers are bigints. */
export type TomlTable = Readonly<Record<string, unknown>>;

/** The top-level table of a TOML file, and the place of each key. */
export interface TomlFile {
  table: TomlTable;
  /** Undefined where a key is not set. */
  findPlace(path: KeyPath): Place | undefined;
}

/**
 * Reads a TOML file; undefined when there is no such file.
 * @throws TomlFileError when it cannot be read, is too large or is not TOML; the message never quotes the file
 */
export async function readTomlFile(file: string): Promise<TomlFile | undefined> {
  const text = readText(file);
  if (text === undefined) return undefined;
  return { table: parseTable(text, file), findPlace: createKeyFinder(text) };
}

/** At once: starting the threads that would read it in the meantime takes several times as long as reading it. */
function readText(file: string): string | undefined {
  try {
    const bytes = readPlainFileSync(file, { maxBytes: MAX_TOML_FILE_BYTES });
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // The decoder strips one byte order mark; the parser would strip another.
    if (text.startsWith("\ufeff")) throw new TomlFileError(file, "it begins with two byte order marks", { line: 1 });
    return text;
  } catch (error) {
    if (error instanceof TomlFileError) throw error;
    if (isMissing(error)) return undefined;
    if (isNotUtf8(error)) throw new TomlFileError(file, "it is not UTF-8 text: save it as UTF-8", { cause: error });
    if (error instanceof PlainFileError) throw new TomlFileError(file, error.message, { cause: error });
    throw new TomlFileError(file, `cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function parseTable(text: string, file: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: "asNeeded", unsafeKeyBehaviour: "throw" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Its message continues with the lines around the error, which may hold secrets.
    const [first = ""] = error.message.split("\n");
    const reason = first.replace(/^Invalid TOML document: /, "");
    const { line, column } = error;
    throw new TomlFileError(file, explain(reason, text, error), { line, column });
  }
}

/** The reason, and the most likely mistake. It never quotes the text. */
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

/** A value as a person types it, such as that of `-c key=value`: parsed as TOML, else the text itself without surrounding quotes. */
export function parseTypedValue(text: string): unknown {
  try {
    return parse(`value = ${text}`, { integersAsBigInt: "asNeeded", unsafeKeyBehaviour: "throw" }).value;
  } catch {
    return text.replace(/^["']+|(?<!["'])["']+$/g, "");
  }
}

const isNotUtf8 = (error: unknown): boolean =>
  error instanceof TypeError && "code" in error && error.code === "ERR_ENCODING_INVALID_ENCODED_DATA";

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
