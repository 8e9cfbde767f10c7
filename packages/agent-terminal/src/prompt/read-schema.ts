import { readFile } from "node:fs/promises";
import { MAX_SCHEMA_BYTES } from "../limits.js";
import { PromptError } from "./prompt-error.js";

/**
 * A JSON schema of this host's disk.
 * @throws PromptError naming the file for one that is missing, too large or no JSON object
 */
export async function readSchema(file: string): Promise<object> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PromptError("bad_input", `--output-schema ${file} cannot be read: ${reason}`, { cause });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_SCHEMA_BYTES) {
    throw new PromptError(
      "bad_input",
      `--output-schema ${file} has ${bytes} bytes; at most ${MAX_SCHEMA_BYTES} are read`,
    );
  }
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PromptError("bad_input", `--output-schema ${file} is not valid JSON: ${reason}`, { cause });
  }
  throw new PromptError("bad_input", `--output-schema ${file} is no JSON object`);
}
