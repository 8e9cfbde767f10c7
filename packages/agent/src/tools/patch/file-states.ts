import { type FileState, type FilesBefore, getAncestors, MAX_FILE_BYTES } from "@codex/apply-patch";
import { type AgentFiles, isMissing, pathOfFileUrl, reasonOf } from "../../files/agent-files.js";
import { MAX_PATCHED_BYTES } from "../../limits.js";

/** Reads the state of the files that a patch names; unreadable files have a state of their own. Never rejects. */
export async function readFiles(files: AgentFiles, paths: readonly string[]): Promise<FilesBefore> {
  const budget = { bytes: MAX_PATCHED_BYTES };
  const states = new Map(
    await Promise.all(paths.map(async (path) => [path, (await readState(files, path, budget)).state] as const)),
  );
  // With fewer than two names there can be no aliases.
  if (paths.length < 2) return { states };
  const realPaths = await Promise.all(paths.map(async (path) => [path, await findRealPath(files, path)] as const));
  return { states, realPaths: new Map(realPaths) };
}

/** Reads the current state of a path, with permissions when the host reports them. `budget`: remaining bytes to read. */
export async function readState(
  files: AgentFiles,
  path: string,
  budget = { bytes: MAX_FILE_BYTES },
): Promise<{ state: FileState; mode?: number | undefined }> {
  try {
    const { isFile, isDirectory, isSymlink, size, mode } = await files.getMetadata(path, { extended: true });
    if (isDirectory) return { state: { kind: "directory" } };
    const reason = isFile ? checkSize(size, budget) : "it is neither a file nor a directory";
    if (reason !== undefined) return { state: { kind: "unreadable", reason } };
    return { state: { kind: "file", bytes: await files.readFile(path, { size }), isLink: isSymlink }, mode };
  } catch (error) {
    return { state: isMissing(error) ? { kind: "missing" } : { kind: "unreadable", reason: reasonOf(error) } };
  }
}

function checkSize(size: number, budget: { bytes: number }): string | undefined {
  if (size > MAX_FILE_BYTES) {
    return `it has ${size} bytes, and a patch takes files of at most ${MAX_FILE_BYTES} bytes: use a command`;
  }
  budget.bytes -= size;
  if (budget.bytes >= 0) return undefined;
  return `the files of the patch have more than ${MAX_PATCHED_BYTES} bytes together: send it in parts`;
}

/** Whether two states have the same content. */
export function isSameState(one: FileState, other: FileState): boolean {
  if (one.kind !== "file" || other.kind !== "file") return one.kind === other.kind;
  return one.bytes.length === other.bytes.length && one.bytes.every((byte, index) => byte === other.bytes[index]);
}

/** Resolves symlinks of a path; of a missing one, those of its nearest existing directory. */
async function findRealPath(files: AgentFiles, path: string): Promise<string> {
  for (const at of [path, ...getAncestors(path)]) {
    try {
      const real = pathOfFileUrl(await files.canonicalize(at));
      return at === path ? real : `${real === "/" ? "" : real}${path.slice(at === "/" ? 0 : at.length)}`;
    } catch (error) {
      if (!isMissing(error)) return path;
    }
  }
  return path;
}
