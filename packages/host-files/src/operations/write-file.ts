import type { WriteFileParams } from "@codex/exec-server-protocol";
import { withErrorPath } from "../errors.js";
import { openForWriting, writeAll } from "../paths/open-file.js";
import { contentOfBytes, overwrite } from "../paths/overwrite.js";
import { resolveTarget } from "../paths/resolve-target.js";
import { writeRecoverably } from "./write-recoverably.js";

/**
 * Creates or overwrites a file in place, so that it stays the same one: links, owner, permissions, attributes. With `atomic` a copy
 * of the old content is kept until the new one is whole. The file gets `mode` once its content is there.
 */
export function writeWholeFile(params: WriteFileParams): Promise<void> {
  const { path, dataBase64, followSymlinks, mode, atomic } = params;
  return withErrorPath(path, async () => {
    if (atomic === true && followSymlinks) return writeRecoverably(await resolveTarget(path), dataBase64, params);
    const file = await openForWriting(path, followSymlinks);
    try {
      const isFile = (await file.stat()).isFile();
      if (isFile) await overwrite(file, contentOfBytes(dataBase64));
      else await writeAll(file, dataBase64, 0);
      if (mode !== undefined && isFile) await file.chmod(mode);
    } finally {
      await file.close();
    }
  });
}
