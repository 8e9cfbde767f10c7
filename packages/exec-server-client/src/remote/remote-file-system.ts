import { createHash } from "node:crypto";
import type { DirectoryEntry, HostPath, Metadata, WalkOptions, WalkResult } from "@codex/exec-server-protocol";
import { METHODS, NOTIFICATIONS, toFileUrl } from "@codex/exec-server-protocol";
import { defined } from "@codex/values";
import * as z from "zod/mini";
import type { Connection } from "../connection/connection.js";
import { parseBase64, parseResponse } from "../connection/responses.js";
import { ClientError } from "../errors.js";
import { MAX_WHOLE_FILE_BYTES } from "../limits.js";
import type { CallOptions, Calls } from "../session/calls.js";
import { type FileOptions, readBlocks, writeBlocks } from "./file-blocks.js";

/** Options of `writeFile`. */
export interface WriteFileOptions extends FileOptions {
  mode?: number;
  atomic?: boolean;
  expected?: Uint8Array | null;
}

/** Why a watch has ended. `lost`: its connection was lost, so later changes are unknown. */
export type MissingChange = "changed" | "replaced" | "lost";

const metadata = z.object({
  isDirectory: z.boolean(),
  isFile: z.boolean(),
  isSymlink: z.boolean(),
  size: z.number(),
  createdAtMs: z.number(),
  modifiedAtMs: z.number(),
  mode: z.optional(z.int()),
});
const entry = z.object({
  fileName: z.string(),
  isDirectory: z.boolean(),
  isFile: z.boolean(),
  isSymlink: z.optional(z.boolean()),
});
const walked = z.object({
  entries: z.array(z.object({ path: z.string(), kind: z.enum(["file", "directory"]) })),
  errors: z.array(z.object({ path: z.string(), message: z.string() })),
  truncated: z.boolean(),
});
const responses = {
  readFile: z.object({ dataBase64: z.string() }),
  readBlock: z.object({ chunk: z.string(), eof: z.boolean() }),
  canonicalize: z.object({ path: z.string() }),
  readDirectory: z.object({ entries: z.array(entry) }),
  watchMissing: z.object({ watching: z.boolean() }),
  nothing: z.unknown(),
};
const missingChanged = z.object({ watchId: z.int() });

/**
 * Files on the host of an exec-server. Arguments are native paths of that host; results are `file:` URIs, as the server
 * sends them. Errors of the server are RpcError, -32004 for a missing file. Reading calls are repeated after a disconnect;
 * writing ones are not, and reject with `connection_lost`.
 */
export class RemoteFileSystem {
  readonly #calls: Pick<Calls, "call">;
  #watches = 0;
  #newHandles = 0;
  /** The connection of each open handle. */
  readonly #handles = new Map<string, Connection>();
  #endWatch: ((change: MissingChange) => void) | undefined;

  constructor(calls: Pick<Calls, "call">) {
    this.#calls = calls;
  }

  /**
   * Reads a file in one message, or in blocks if it is larger than `MAX_WHOLE_FILE_BYTES`.
   * `size`: bytes, if known from `getMetadata`; otherwise it is requested.
   * @throws ClientError `connection_lost` when the connection ends between two blocks
   */
  async readFile(path: HostPath, { size: known, ...options }: FileOptions & { size?: number } = {}): Promise<Buffer> {
    const size = known ?? (await this.getMetadata(path, options)).size;
    if (size > MAX_WHOLE_FILE_BYTES) return readBlocks(this, this.#nextHandle(), path, options);
    const { dataBase64 } = await this.#request(METHODS.fsReadFile, at(path, options), responses.readFile, IDEMPOTENT);
    return parseBase64(dataBase64, METHODS.fsReadFile);
  }

  /**
   * Writes a file, in blocks like `readFile`. Codex 0.169.0 leaves an incomplete file after a failure, and ignores the options, which
   * concern a file written in one message. `mode`: permission bits that it gets. `atomic`: neither a full disk nor the end of the
   * server loses the old content. `expected`, with `atomic`: the content that is replaced, null for no file; the server refuses to
   * overwrite anything else.
   */
  async writeFile(path: HostPath, bytes: Uint8Array, options: WriteFileOptions = {}): Promise<void> {
    const { mode, atomic, expected, ...given } = options;
    if (bytes.length > MAX_WHOLE_FILE_BYTES) return writeBlocks(this, this.#nextHandle(), path, bytes, given);
    const params = {
      ...at(path, given),
      ...defined({ mode }),
      ...(atomic === true ? { atomic } : {}),
      ...(expected === undefined ? {} : { expected: describeContent(expected) }),
      dataBase64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
    };
    await this.#request(METHODS.fsWriteFile, params, responses.nothing);
  }

  async createDirectory(path: HostPath, options: FileOptions & { recursive?: boolean } = {}): Promise<void> {
    await this.#request(METHODS.fsCreateDirectory, at(path, options), responses.nothing);
  }

  async getMetadata(path: HostPath, options: FileOptions & { extended?: boolean } = {}): Promise<Metadata> {
    const { mode, ...rest } = await this.#request(METHODS.fsGetMetadata, at(path, options), metadata, IDEMPOTENT);
    return { ...rest, ...defined({ mode }) };
  }

  /** The resolved path as a `file:` URI. */
  async canonicalize(path: HostPath, options: Pick<FileOptions, "sandbox"> = {}): Promise<string> {
    return (await this.#request(METHODS.fsCanonicalize, at(path, options), responses.canonicalize, IDEMPOTENT)).path;
  }

  async readDirectory(
    path: HostPath,
    options: Pick<FileOptions, "sandbox"> & { extended?: boolean } = {},
  ): Promise<DirectoryEntry[]> {
    const { entries } = await this.#request(
      METHODS.fsReadDirectory,
      at(path, options),
      responses.readDirectory,
      IDEMPOTENT,
    );
    return entries.map(({ isSymlink, ...rest }) => ({ ...rest, ...defined({ isSymlink }) }));
  }

  walk(path: HostPath, options: WalkOptions, sandbox: unknown = null): Promise<WalkResult> {
    return this.#request(METHODS.fsWalk, { path: toFileUrl(path), options, sandbox }, walked, IDEMPOTENT);
  }

  /** By default, as in the protocol, directories are removed with their contents, and a missing path is not an error. */
  async remove(path: HostPath, options: FileOptions & { recursive?: boolean; force?: boolean } = {}): Promise<void> {
    await this.#request(METHODS.fsRemove, at(path, options), responses.nothing);
  }

  async copy(from: HostPath, to: HostPath, options: { recursive: boolean; sandbox?: unknown }): Promise<void> {
    const { recursive, sandbox = null } = options;
    const params = { sourcePath: toFileUrl(from), destinationPath: toFileUrl(to), recursive, sandbox };
    await this.#request(METHODS.fsCopy, params, responses.nothing);
  }

  /**
   * Opens a handle, which ends with the current connection; its calls then throw ClientError `connection_lost`.
   * `handleId` has at most 32 bytes; the prefix `client-` is reserved. In `replace` mode servers of this project replace the
   * content at `close`, Codex 0.169.0 immediately.
   */
  async open(
    handleId: string,
    path: HostPath,
    { mode = "read", ...options }: FileOptions & { mode?: "read" | "replace" } = {},
  ): Promise<void> {
    const params = { handleId, mode, ...at(path, options) };
    let opened: Connection | undefined;
    await this.#request(METHODS.fsOpen, params, responses.nothing, {
      onSend: ({ connection }) => {
        opened = connection;
      },
    });
    for (const [id, connection] of this.#handles) if (connection !== opened) this.#handles.delete(id);
    this.#handles.set(handleId, opened!);
  }

  /** @param length 1 to 1 MiB */
  async readBlock(handleId: string, offset: number, length: number): Promise<{ bytes: Buffer; eof: boolean }> {
    const params = { handleId, offset, len: length };
    const { chunk, eof } = await this.#request(METHODS.fsReadBlock, params, responses.readBlock, this.#on(handleId));
    return { bytes: parseBase64(chunk, METHODS.fsReadBlock), eof };
  }

  /** @param bytes 1 to 1 MiB */
  async writeBlock(handleId: string, offset: number, bytes: Uint8Array): Promise<void> {
    const chunk = Buffer.from(bytes).toString("base64");
    await this.#request(METHODS.fsWriteBlock, { handleId, offset, chunk }, responses.nothing, this.#on(handleId));
  }

  async close(handleId: string): Promise<void> {
    await this.#request(METHODS.fsClose, { handleId }, responses.nothing, this.#on(handleId));
    this.#handles.delete(handleId);
  }

  /**
   * Watches until one of `missing` appears, or `present` disappears. A connection has one watch, which a new one replaces.
   * `watching` is false if that is already the case, or the server cannot watch; then `changed` is undefined.
   */
  async watchMissing(
    missing: readonly HostPath[],
    present?: HostPath,
  ): Promise<{ watching: boolean; changed: Promise<MissingChange> | undefined }> {
    this.#watches += 1;
    const watchId = this.#watches;
    this.#endWatch?.("replaced");
    let stop: (() => void) | undefined;
    let resolve!: (change: MissingChange) => void;
    const changed = new Promise<MissingChange>((settle) => {
      resolve = settle;
    });
    const end = (change: MissingChange) => {
      stop?.();
      resolve(change);
    };
    this.#endWatch = end;
    const onNotification = (method: string, params: unknown) => {
      if (method !== NOTIFICATIONS.fsMissingChanged) return undefined;
      if (parseResponse(missingChanged, params, method).watchId !== watchId) return undefined;
      end("changed");
      return undefined;
    };
    const params = {
      watchId,
      missing: missing.map(toFileUrl),
      present: present === undefined ? null : toFileUrl(present),
    };
    try {
      const { watching } = await this.#request(METHODS.fsWatchMissing, params, responses.watchMissing, {
        onSend({ connection }) {
          stop = connection.listen({ onNotification, onEnd: () => end("lost") });
        },
      });
      if (!watching) stop?.();
      return { watching, changed: watching ? changed : undefined };
    } catch (error) {
      stop?.();
      throw error;
    }
  }

  /** Requires the connection of the handle: on another one it does not exist, which `close` would not report. */
  #on(handleId: string): CallOptions {
    return {
      onSend: ({ connection }) => {
        if (this.#handles.get(handleId) === connection) return;
        throw new ClientError("connection_lost", `file handle \`${handleId}\` has ended with its connection`);
      },
    };
  }

  #nextHandle(): string {
    this.#newHandles += 1;
    return `client-${this.#newHandles}`;
  }

  async #request<Schema extends z.ZodMiniType>(
    method: string,
    params: unknown,
    schema: Schema,
    options: CallOptions = {},
  ): Promise<z.output<Schema>> {
    return parseResponse(schema, await this.#calls.call(method, params, options), method);
  }
}

/** For calls that change nothing. */
const IDEMPOTENT: CallOptions = { idempotent: true };

/** As the member `expected` of `fs/writeFile`. */
const describeContent = (content: Uint8Array | null): string =>
  content === null ? "missing" : `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** Omitted members get the server's defaults; `sandbox` is always sent, as Codex does. */
const at = (path: HostPath, { sandbox = null, ...options }: FileOptions): Record<string, unknown> => ({
  path: toFileUrl(path),
  ...options,
  sandbox,
});
