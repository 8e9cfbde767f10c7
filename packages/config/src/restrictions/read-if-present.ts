import { readPlainFile } from "@codex/plain-file";

/** The content of a file; undefined if it is missing. @throws as `readPlainFile` */
export const readIfPresent = (file: string, maxBytes: number): Promise<Buffer | undefined> =>
  readPlainFile(file, { maxBytes }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
