import type { FileHandle } from "node:fs/promises";
import { RpcError } from "@codex/channel";
import type { OpenParams, ReadBlockParams, WriteBlockParams } from "@codex/exec-server-protocol";
import { ERROR_CODES, type HostPath, isSamePath } from "@codex/exec-server-protocol";
import type { FileBlock } from "../connection-file-system.js";
import { about, invalidRequest, systemError, toRpcError } from "../errors.js";
import { MAX_BLOCK_BYTES, MAX_HANDLE_ID_BYTES, MAX_OPEN_HANDLES } from "../limits.js";
import { openForReading, writeAll } from "../paths/open-file.js";
import { resolveTarget } from "../paths/resolve-target.js";
import type { SandboxPlace } from "../sandboxed/sandboxed-files.js";
import { createReplacement, type Replacement } from "./replacement.js";

type OpenFile =
  | { kind: "read"; path: HostPath; file: FileHandle }
  | { kind: "replace"; path: HostPath; replacement: Replacement }
  /** Open in a sandbox. */
  | { kind: "sandboxed"; path: HostPath; mode: OpenParams["mode"]; place: SandboxPlace };

/** The open files of one connection. `open`, `writeBlock` and `close` must not run beside anything else here. */
export class FileHandles {
  readonly #open = new Map<string, OpenFile>();

  /** @param place where it is opened, for a sandbox; given back when it is closed. @throws RpcError; nothing is open then */
  async open(params: OpenParams, place?: SandboxPlace): Promise<void> {
    const { handleId, path, mode } = params;
    if (Buffer.byteLength(handleId) > MAX_HANDLE_ID_BYTES) {
      throw invalidRequest(`file handle ID must not exceed ${MAX_HANDLE_ID_BYTES} bytes`);
    }
    if (this.#open.has(handleId)) throw invalidRequest(`file handle \`${handleId}\` already exists`);
    if (this.#open.size >= MAX_OPEN_HANDLES) {
      throw invalidRequest(`at most ${MAX_OPEN_HANDLES} file handles may be open per connection`);
    }
    if (place !== undefined) {
      await place.call("open", params);
      place.keep();
      this.#open.set(handleId, { kind: "sandboxed", path, mode, place });
      return;
    }
    const opened: OpenFile =
      mode === "read"
        ? {
            kind: "read",
            path,
            file: await about(path, async () => openForReading(await this.contentPath(path, true), true)),
          }
        : { kind: "replace", path, replacement: await about(path, () => createReplacement(path)) };
    this.#open.set(handleId, opened);
  }

  async readBlock(params: ReadBlockParams): Promise<FileBlock> {
    const { handleId, offset, len } = params;
    if (len < 1 || len > MAX_BLOCK_BYTES) throw badLength("read");
    const opened = this.#get(handleId);
    if (opened.kind === "sandboxed") return opened.place.call("readBlock", params) as Promise<FileBlock>;
    if (opened.kind !== "read") throw toRpcError(systemError("EBADF"), opened.path);
    const bytes = await about(opened.path, () => readBytes(opened.file, offset, len));
    return { bytes, eof: bytes.length < len };
  }

  /** A failed write ends the replacement: half a content must not take the place of the old one. */
  async writeBlock(params: WriteBlockParams): Promise<void> {
    const { handleId, offset, chunk } = params;
    if (chunk.length < 1 || chunk.length > MAX_BLOCK_BYTES) throw badLength("write");
    const opened = this.#get(handleId);
    if (opened.kind === "read" || (opened.kind === "sandboxed" && opened.mode === "read")) {
      throw toRpcError(systemError("EBADF"), opened.path);
    }
    try {
      if (opened.kind === "sandboxed") await opened.place.call("writeBlock", params);
      else await writeAll(opened.replacement.file, chunk, offset);
    } catch (error) {
      this.#open.delete(handleId);
      if (opened.kind === "sandboxed") opened.place.leave();
      else await opened.replacement.abort();
      throw toRpcError(error, opened.path);
    }
  }

  /** Ends a handle; a replacement takes its place. A handle that is not open is no error. */
  async close(handleId: string): Promise<void> {
    const opened = this.#open.get(handleId);
    if (opened === undefined) return;
    this.#open.delete(handleId);
    if (opened.kind === "sandboxed") {
      await opened.place.call("close", { handleId }).finally(opened.place.leave);
      return;
    }
    await about(opened.path, () => (opened.kind === "read" ? opened.file.close() : opened.replacement.commit()));
  }

  /**
   * Where this connection reads the content of a path: what it is replacing it already sees itself, as if it were
   * written in place, while everybody else sees the old content. What is replaced in a sandbox is seen so there alone.
   */
  async contentPath(path: HostPath, followSymlinks: boolean): Promise<HostPath> {
    const replacements = [...this.#open.values()].flatMap((opened) =>
      opened.kind === "replace" ? [opened.replacement] : [],
    );
    if (replacements.length === 0) return path;
    const target = followSymlinks ? await resolveTarget(path).catch(() => path) : path;
    return replacements.findLast((one) => isSamePath(one.target, target))?.contentPath ?? path;
  }

  /** Whether `contentPath` leads to other paths than those it is given. */
  get isReplacing(): boolean {
    for (const { kind } of this.#open.values()) if (kind === "replace") return true;
    return false;
  }

  /** Closes every file; what was being replaced stays as it was. Those in a sandbox end with it. Never rejects. */
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
