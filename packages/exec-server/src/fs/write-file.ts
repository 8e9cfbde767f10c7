import type { WriteFileParams } from "../protocol/fs.js";
import { about } from "./errors.js";
import { openForWriting, writeAll } from "./open-file.js";

/** Makes or overwrites a file in place: links to it stay what they are. */
export function writeWholeFile({ path, dataBase64, followSymlinks }: WriteFileParams): Promise<void> {
  return about(path, async () => {
    const file = await openForWriting(path, followSymlinks);
    try {
      await writeAll(file, dataBase64, 0);
    } finally {
      await file.close();
    }
  });
}
