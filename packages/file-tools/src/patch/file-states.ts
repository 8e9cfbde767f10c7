import { type FileState, type FilesBefore, getAncestors, MAX_FILE_BYTES } from "@codex/apply-patch";
import { messageOf } from "@codex/values";
import { type AgentFiles, isLinkError, isMissing, pathOfFileUrl } from "../agent-files.js";
import { MAX_PATCHED_BYTES } from "../limits.js";

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
    const isLink = isSymlink ? { isLink: true } : {};
    if (isDirectory) return { state: { kind: "directory", ...isLink } };
    const reason = isFile ? checkSize(size, budget) : "it is neither a file nor a directory";
    if (reason !== undefined) return { state: { kind: "unreadable", reason, ...isLink } };
    return { state: { kind: "file", bytes: await files.readFile(path, { size }), ...isLink }, mode };
  } catch (error) {
    const isLink = (await isBrokenLink(files, path)) ? { isLink: true } : {};
    if (!isMissing(error)) return { state: { kind: "unreadable", reason: messageOf(error), ...isLink } };
    return { state: { kind: "missing", ...isLink } };
  }
}

/** Whether a path that leads to no file, or in a circle, is a symbolic link. */
async function isBrokenLink(files: AgentFiles, path: string): Promise<boolean> {
  const slash = path.lastIndexOf("/");
  let above: string;
  try {
    above = pathOfFileUrl(await files.canonicalize(path.slice(0, slash) || "/"));
  } catch {
    return false; // no directory
  }
  try {
    await files.getMetadata(`${above === "/" ? "" : above}${path.slice(slash)}`, { followSymlinks: false });
    return false;
  } catch (error) {
    return isLinkError(error);
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

/** Whether two states have the same content; a link to it has the same, one that leads to no file has none. */
export function isSameState(one: FileState, other: FileState): boolean {
  if (one.kind !== "file" || other.kind !== "file") return one.kind === other.kind && one.isLink === other.isLink;
  return one.bytes.length === other.bytes.length && one.bytes.every((byte, index) => byte === other.bytes[index]);
}

/** Options of a write that is to replace this state only. */
export function expecting(state: FileState): { expected?: Uint8Array | null } {
  if (state.kind === "file") return { expected: state.bytes };
  return state.kind === "missing" ? { expected: null } : {};
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
