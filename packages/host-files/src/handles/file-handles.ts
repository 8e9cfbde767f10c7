import type { FileHandle } from "node:fs/promises";
import { RpcError } from "@codex/channel";
import type { OpenParams, ReadBlockParams, WriteBlockParams } from "@codex/exec-server-protocol";
import { ERROR_CODES, type HostPath, isSamePath } from "@codex/exec-server-protocol";
import type { FileBlock } from "../connection-file-system.js";
import { invalidRequest, systemError, toRpcError, withErrorPath } from "../errors.js";
import { MAX_BLOCK_BYTES, MAX_HANDLE_ID_BYTES, MAX_OPEN_HANDLES } from "../limits.js";
import { openForReading, writeAll } from "../paths/open-file.js";
import { createReplacement, type Replacement } from "../paths/replacement.js";
import { resolveTarget } from "../paths/resolve-target.js";
import type { SandboxLease } from "../sandboxed/sandboxed-files.js";

type OpenFile =
  | { kind: "read"; path: HostPath; file: FileHandle }
  | { kind: "replace"; path: HostPath; replacement: Replacement }
  /** Open in the helper of a sandbox. */
  | { kind: "sandboxed"; path: HostPath; mode: OpenParams["mode"]; lease: SandboxLease };

/** The open files of one connection. `open`, `writeBlock` and `close` must run exclusively. */
export class FileHandles {
  readonly #open = new Map<string, OpenFile>();

  /** @param lease the sandbox to open it in; owned and released at close, unless this throws. @throws RpcError */
  async open(params: OpenParams, lease?: SandboxLease): Promise<void> {
    const { handleId, path, mode } = params;
    if (Buffer.byteLength(handleId) > MAX_HANDLE_ID_BYTES) {
      throw invalidRequest(`file handle ID must not exceed ${MAX_HANDLE_ID_BYTES} bytes`);
    }
    if (this.#open.has(handleId)) throw invalidRequest(`file handle \`${handleId}\` already exists`);
    if (this.#open.size >= MAX_OPEN_HANDLES) {
      throw invalidRequest(`at most ${MAX_OPEN_HANDLES} file handles may be open per connection`);
    }
    if (lease !== undefined) {
      await lease.call("open", params);
      lease.pin();
      this.#open.set(handleId, { kind: "sandboxed", path, mode, lease });
      return;
    }
    const opened: OpenFile =
      mode === "read"
        ? {
            kind: "read",
            path,
            file: await withErrorPath(path, async () => openForReading(await this.contentPath(path, true), true)),
          }
        : { kind: "replace", path, replacement: await withErrorPath(path, () => createReplacement(path)) };
    this.#open.set(handleId, opened);
  }

  async readBlock(params: ReadBlockParams): Promise<FileBlock> {
    const { handleId, offset, len } = params;
    if (len < 1 || len > MAX_BLOCK_BYTES) throw badLength("read");
    const opened = this.#get(handleId);
    if (opened.kind === "sandboxed") return opened.lease.call("readBlock", params) as Promise<FileBlock>;
    if (opened.kind !== "read") throw toRpcError(systemError("EBADF"), opened.path);
    const bytes = await withErrorPath(opened.path, () => readBytes(opened.file, offset, len));
    return { bytes, eof: bytes.length < len };
  }

  /** A failed write discards the replacement: incomplete content must not replace the file. */
  async writeBlock(params: WriteBlockParams): Promise<void> {
    const { handleId, offset, chunk } = params;
    if (chunk.length < 1 || chunk.length > MAX_BLOCK_BYTES) throw badLength("write");
    const opened = this.#get(handleId);
    if (opened.kind === "read" || (opened.kind === "sandboxed" && opened.mode === "read")) {
      throw toRpcError(systemError("EBADF"), opened.path);
    }
    try {
      if (opened.kind === "sandboxed") await opened.lease.call("writeBlock", params);
      else await writeAll(opened.replacement.file, chunk, offset);
    } catch (error) {
      this.#open.delete(handleId);
      if (opened.kind === "sandboxed") opened.lease.release();
      else await opened.replacement.abort();
      throw toRpcError(error, opened.path);
    }
  }

  /** Closes a handle and commits its replacement. An unknown handle is not an error. */
  async close(handleId: string): Promise<void> {
    const opened = this.#open.get(handleId);
    if (opened === undefined) return;
    this.#open.delete(handleId);
    if (opened.kind === "sandboxed") {
      await opened.lease.call("close", { handleId }).finally(opened.lease.release);
      return;
    }
    await withErrorPath(opened.path, () =>
      opened.kind === "read" ? opened.file.close() : opened.replacement.commit(),
    );
  }

  /**
   * The path to read content from: this connection sees the new content of files that it is replacing, all others the old
   * content. Replacements in a sandbox are visible only to calls in that sandbox.
   */
  async contentPath(path: HostPath, followSymlinks: boolean): Promise<HostPath> {
    const replacements = [...this.#open.values()].flatMap((opened) =>
      opened.kind === "replace" ? [opened.replacement] : [],
    );
    if (replacements.length === 0) return path;
    const target = followSymlinks ? await resolveTarget(path).catch(() => path) : path;
    return replacements.findLast((one) => isSamePath(one.target, target))?.contentPath ?? path;
  }

  /** Path of a file that this process has open; undefined for one that the helper of a sandbox has open, and for an unknown id. */
  pathOf(handleId: string): HostPath | undefined {
    const opened = this.#open.get(handleId);
    return opened?.kind === "sandboxed" ? undefined : opened?.path;
  }

  /** False when `contentPath` returns every path unchanged. */
  get isReplacing(): boolean {
    for (const { kind } of this.#open.values()) if (kind === "replace") return true;
    return false;
  }

  /** Closes every file and discards replacements. Files in a sandbox are closed by its helper. Never rejects. */
  async dispose(): Promise<void> {
    const opened = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(
      opened.map(async (one) => {
        if (one.kind === "read") await one.file.close().catch(() => {});
        else if (one.kind === "replace") await one.replacement.abort();
      }),
    );
  }

  #get(handleId: string): OpenFile {
    const opened = this.#open.get(handleId);
    if (opened === undefined) throw new RpcError(ERROR_CODES.notFound, `unknown file handle \`${handleId}\``);
    return opened;
  }
}

const badLength = (what: "read" | "write") =>
  invalidRequest(`file ${what} block length must be between 1 and ${MAX_BLOCK_BYTES}`);

async function readBytes(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(buffer, read, length - read, offset + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}
