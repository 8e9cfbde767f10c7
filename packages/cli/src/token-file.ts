import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { CommandError, EXIT } from "./exit-codes.js";

/** The token in a file, without the blanks around it; undefined without a file. */
export function readToken(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(path.replace(/^~(?=\/)/, homedir()), "utf8").trim();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new CommandError(`the token file cannot be read: ${detail}`, EXIT.usage, { cause: error });
  }
  if (text === "") throw new CommandError(`the token file ${path} is empty`, EXIT.usage);
  return text;
}
