import type { FileState, FilesBefore, Patch, Plan } from "@codex/apply-patch";
import { resolvePath } from "@codex/apply-patch";
import { type AgentFiles, MAX_PATCHED_BYTES, pathOfFileUrl, readState } from "@codex/file-tools";
import { asObject, asText } from "@codex/model/json";
import { MAX_SEARCHED_DIRECTORIES, MAX_SEARCHED_ENTRIES } from "../../limits.js";

/** What a thread saves before a patch is applied, so that a later process can determine how far it came. */
export interface PatchCheckpoint {
  /** Each file that the patch writes or removes. */
  readonly files: readonly CheckpointFile[];
}

interface CheckpointFile {
  /** Absolute. */
  readonly path: string;
  /** As in the patch. */
  readonly shownPath: string;
  /** Digest of the content; null: there is no file. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Creates the checkpoint of a plan; undefined if digests are unavailable (a browser page without TLS). */
export async function createCheckpoint({ operations }: Patch, plan: Plan, cwd: string) {
  if (globalThis.crypto?.subtle === undefined) return undefined;
  const names = operations.flatMap((one) =>
    one.kind === "update" && one.moveTo !== undefined ? [one.path, one.moveTo] : [one.path],
  );
  const shown = new Map(names.map((name) => [resolvePath(cwd, name), name]));
  const files = plan.steps.map(async (step): Promise<CheckpointFile> => {
    const { path, kind, before } = step;
    return {
      path,
      shownPath: shown.get(path) ?? path,
      before: await digestState(before),
      after: kind === "write" ? await digest(step.after) : null,
    };
  });
  return { files: await Promise.all(files) } satisfies PatchCheckpoint;
}

/** Reads a saved checkpoint; undefined for anything else. */
export function parseCheckpoint(saved: unknown): PatchCheckpoint | undefined {
  const listed = asObject(saved)?.files;
  if (!Array.isArray(listed)) return undefined;
  const files = (listed as readonly unknown[]).flatMap((one) => {
    const file = asObject(one);
    const path = asText(file?.path);
    if (path === undefined) return [];
    const { before, after } = { before: asText(file?.before) ?? null, after: asText(file?.after) ?? null };
    return [{ path, shownPath: asText(file?.shownPath) ?? path, before, after }];
  });
  return { files };
}

/**
 * Describes the current state of the files of a checkpoint, and temporary files left next to them: one line each.
 * `known`: files that were already read.
 */
export async function describeCheckpoint(
  checkpoint: PatchCheckpoint,
  files: AgentFiles,
  known: FilesBefore,
): Promise<string[]> {
  const budget = { bytes: MAX_PATCHED_BYTES };
  const lines: string[] = [];
  const directories = new Set<string>();
  for (const file of checkpoint.files) {
    const state = known.states.get(file.path) ?? (await readState(files, file.path, budget)).state;
    lines.push(`${file.shownPath}: ${await describeFile(file, state)}`);
    const real = known.realPaths?.get(file.path) ?? file.path;
    directories.add(real.slice(0, real.lastIndexOf("/")) || "/");
  }
  for (const directory of [...directories].slice(0, MAX_SEARCHED_DIRECTORIES)) {
    for (const path of await findTemporaryFiles(files, directory)) {
      const { state } = await readState(files, path, budget);
      lines.push(`${path}: ${describeTemporary(checkpoint, await digestState(state))}`);
    }
  }
  return lines;
}

function describeTemporary({ files }: PatchCheckpoint, content: string | null): string {
  const whose = files.find(({ before }) => before !== null && before === content);
  const what = whose === undefined ? "a temporary file" : `the whole old content of '${whose.shownPath}'`;
  return `${what} that an interrupted write has left, to be removed${whose === undefined ? "" : " once it is not needed"}`;
}

/** The old content of a file while `fs/writeFile` replaces it, and a copy while a file is moved. */
const TEMPORARY = /\/\.codex-(?:replace|patch)-[^/]+$/;

async function findTemporaryFiles(files: AgentFiles, directory: string): Promise<string[]> {
  const options = { maxDepth: 0, maxDirectories: 1, followDirectorySymlinks: false, pruneHiddenDirectories: true };
  const { entries } = await files
    .walk(directory, { ...options, maxEntries: MAX_SEARCHED_ENTRIES })
    .catch(() => ({ entries: [] })); // not created yet
  return entries.flatMap(({ path, kind }) => (kind === "file" && TEMPORARY.test(path) ? [pathOfFileUrl(path)] : []));
}

async function describeFile({ before, after }: CheckpointFile, now: FileState): Promise<string> {
  if (now.kind === "unreadable") return `unknown, since it cannot be read (${now.reason})`;
  const digested = await digestState(now);
  if (digested === after)
    return after === null ? "new, as the patch leaves it: removed" : "new, as the patch leaves it";
  if (digested === before) return before === null ? "old: not made yet" : "old, the patch has not reached it";
  return "neither old nor new: cut off while it was written, or changed by something else";
}

/** Null for a missing file; anything but a file gets a digest that no file has. */
async function digestState(state: FileState): Promise<string | null> {
  if (state.kind === "missing") return state.isLink ? "link" : null;
  return state.kind === "file" ? digest(state.bytes) : state.kind;
}

/** SHA-256 in hexadecimal. */
async function digest(bytes: Uint8Array): Promise<string> {
  // Contents of files are never in shared memory.
  const hash = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
