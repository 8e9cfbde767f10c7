import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { type FileHandle, stat } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import type { HostPath, WriteFileParams } from "@codex/exec-server-protocol";
import { changedError, tornError } from "../errors.js";
import { openExisting, openForReading, writeAll } from "../paths/open-file.js";
import { contentOfBytes, contentOfFile, copyRange, overwrite } from "../paths/overwrite.js";
import { ANYBODY, claimSibling, createSibling, type Sibling } from "../paths/sibling.js";

type WriteOptions = Pick<WriteFileParams, "mode" | "expected">;

/**
 * Writes a file so that neither a full disk nor the end of this process loses its old content: it is in a sibling while the file is
 * written in place. A new file appears with its whole content.
 * @param target without links
 */
export async function writeRecoverably(target: HostPath, bytes: Uint8Array, options: WriteOptions): Promise<void> {
  const file = await openExisting(target);
  if (file === undefined) return create(target, bytes, options);
  try {
    if (!(await file.stat()).isFile()) return await writeAll(file, bytes, 0);
    if (options.expected === "missing") throw changedError(target);
    const kept = await claimSibling(target);
    try {
      const before = await file.stat({ bigint: true });
      await replaceContent({ file, target, before, kept }, bytes, options);
    } finally {
      await kept?.discard();
    }
  } finally {
    await file.close();
  }
}

async function create(target: HostPath, bytes: Uint8Array, { mode, expected }: WriteOptions): Promise<void> {
  if (expected !== undefined && expected !== "missing") throw changedError(target);
  const sibling = await createSibling(target, ANYBODY);
  try {
    await writeAll(sibling.file, bytes, 0);
    if (mode !== undefined) await sibling.file.chmod(mode);
    await sibling.become(target, { isNew: expected === "missing" });
  } catch (error) {
    await sibling.discard();
    throw errnoOf(error) === "EEXIST" ? changedError(target) : error;
  }
}

interface OpenTarget {
  file: FileHandle;
  target: HostPath;
  before: BigIntStats;
  /** Where the old content is kept; undefined where there can be none. */
  kept: Sibling | undefined;
}

async function replaceContent(open: OpenTarget, bytes: Uint8Array, { mode, expected }: WriteOptions): Promise<void> {
  const { file, target, before, kept } = open;
  const isKept = await keepContent(open, expected);
  await overwrite(file, contentOfBytes(bytes), (error) => restore(file, target, isKept ? kept : undefined, error));
  if (mode === undefined) await keepPermissions(file, Number(before.mode & PERMISSION_BITS));
  else await file.chmod(mode);
  const after = await stat(target, { bigint: true }).catch(() => undefined);
  if (after?.ino !== before.ino || after.dev !== before.dev) throw changedError(target);
}

const PERMISSION_BITS = 0o7777n;

/**
 * Copies the content of a file to its sibling, if there is one. False for a file that may be written and not read.
 * @throws RpcError for another content than expected
 */
async function keepContent({ target, before, kept }: OpenTarget, expected: WriteOptions["expected"]): Promise<boolean> {
  const source = await openForReading(target, true).catch((error: unknown) => {
    if (errnoOf(error) === "EACCES") return undefined;
    throw error;
  });
  if (source === undefined) return false;
  try {
    if (!isSameVersion(await source.stat({ bigint: true }), before)) throw changedError(target);
    const hash = createHash("sha256");
    const range = { from: 0, to: Number(before.size), onBytes: (bytes: Uint8Array) => void hash.update(bytes) };
    await copyRange(source, kept?.file, range);
    const isExpected = expected === undefined || expected === `sha256:${hash.digest("hex")}`;
    // Whoever is writing it right now would be overwritten.
    if (!isExpected || !isSameVersion(await source.stat({ bigint: true }), before)) throw changedError(target);
    return true;
  } finally {
    await source.close();
  }
}

const isSameVersion = (one: BigIntStats, other: BigIntStats): boolean =>
  one.dev === other.dev && one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs;

async function restore(file: FileHandle, target: HostPath, kept: Sibling | undefined, error: unknown): Promise<void> {
  if (kept === undefined) throw tornError(error, target);
  try {
    await overwrite(file, await contentOfFile(kept.file));
  } catch {
    await kept.leave();
    throw tornError(error, target, { name: "old", path: kept.path });
  }
}

/** Writing takes set-user-id and set-group-id away. Where they may not be given back, as in a sandbox, they stay away. */
async function keepPermissions(file: FileHandle, mode: number): Promise<void> {
  const current = (await file.stat({ bigint: true })).mode & PERMISSION_BITS;
  if (current !== BigInt(mode)) await file.chmod(mode).catch(() => {});
}
