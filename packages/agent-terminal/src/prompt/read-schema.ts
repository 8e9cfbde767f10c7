import { createReadStream } from "node:fs";
import { decodeText, messageOf } from "@codex/values";
import { MAX_SCHEMA_BYTES } from "../limits.js";
import { PromptError } from "./prompt-error.js";

/**
 * Reads a JSON schema file of this host.
 * @throws PromptError naming a file that is missing, too large or not a JSON object
 */
export async function readSchema(file: string): Promise<object> {
  let bytes: Buffer | undefined;
  try {
    bytes = await readAtMost(file, MAX_SCHEMA_BYTES);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new PromptError("bad_input", `--output-schema ${file} cannot be read: ${reason}`, { cause });
  }
  if (bytes === undefined) {
    const rule = `has more than ${MAX_SCHEMA_BYTES} bytes, which is the limit`;
    throw new PromptError("bad_input", `--output-schema ${file} ${rule}`);
  }
  try {
    const schema: unknown = JSON.parse(decodeText(bytes, { fatal: true }));
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema;
  } catch (cause) {
    const reason = messageOf(cause);
    throw new PromptError("bad_input", `--output-schema ${file} is not valid JSON: ${reason}`, { cause });
  }
  throw new PromptError("bad_input", `--output-schema ${file} is not a JSON object`);
}

/** Also reads a pipe or a device, whose size is not known in advance. Undefined if there are more bytes than this. */
async function readAtMost(file: string, bytes: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let total = 0;
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    total += piece.length;
    if (total > bytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
