import { RpcError } from "@codex/channel";
import type {
  CanonicalizeParams,
  CanonicalizeResult,
  CloseParams,
  CopyParams,
  CreateDirectoryParams,
  GetMetadataParams,
  Metadata,
  OpenParams,
  ReadBlockParams,
  ReadDirectoryParams,
  ReadDirectoryResult,
  ReadFileParams,
  RemoveParams,
  WalkParams,
  WalkResult,
  WatchMissingParams,
  WatchMissingResult,
  WriteBlockParams,
  WriteFileParams,
} from "../protocol/fs.js";
import { ERROR_CODES, METHODS } from "../protocol/methods.js";
import { refuseSandbox } from "../protocol/refuse-sandbox.js";
import type { Sandbox } from "../protocol/sandbox.js";
import { copy } from "./copy.js";
import { canonicalize, createDirectory, readDirectory } from "./directories.js";
import { type FileBlock, FileHandles } from "./file-handles.js";
import { DEFAULT_FILE_SYSTEM_LIMITS, type FileSystemLimits, MAX_CONCURRENT_READS } from "./limits.js";
import { getMetadata } from "./metadata.js";
import { createOrder } from "./order.js";
import { readWholeFile } from "./read-file.js";
import { remove } from "./remove.js";
import { walk } from "./walk.js";
import { MissingWatch } from "./watch-missing.js";
import { writeWholeFile } from "./write-file.js";

/** The files of this host, as every connection may use them. */
export interface FileSystem {
  /** Makes what belongs to one connection; the connection ends it with `dispose`. */
  createConnectionFileSystem(options: ConnectionFileSystemOptions): ConnectionFileSystem;
}

export interface ConnectionFileSystemOptions {
  /** What was missing has appeared, or what was present has gone. Never before the answer that said `watching`. */
  onMissingChanged(watchId: number): void;
}

/**
 * The file calls of one connection. Calls take effect in the order they are made: one that changes something waits for
 * those before it and holds back those after it, so requests may be pipelined. Every failure is an RpcError.
 */
export interface ConnectionFileSystem {
  readFile(params: ReadFileParams): Promise<Buffer>;
  writeFile(params: WriteFileParams): Promise<void>;
  createDirectory(params: CreateDirectoryParams): Promise<void>;
  getMetadata(params: GetMetadataParams): Promise<Metadata>;
  canonicalize(params: CanonicalizeParams): Promise<CanonicalizeResult>;
  readDirectory(params: ReadDirectoryParams): Promise<ReadDirectoryResult>;
  walk(params: WalkParams): Promise<WalkResult>;
  remove(params: RemoveParams): Promise<void>;
  copy(params: CopyParams): Promise<void>;
  open(params: OpenParams): Promise<void>;
  readBlock(params: ReadBlockParams): Promise<FileBlock>;
  writeBlock(params: WriteBlockParams): Promise<void>;
  close(params: CloseParams): Promise<void>;
  watchMissing(params: WatchMissingParams): Promise<WatchMissingResult>;
  /**
   * The connection is gone: stops what is under way, closes its handles and leaves what was being replaced as it was.
   * Resolves when nothing is left. Idempotent; never rejects.
   */
  dispose(): Promise<void>;
}

interface Sandboxed {
  sandbox?: Sandbox | undefined;
}

export function createFileSystem(options: { limits?: Partial<FileSystemLimits> } = {}): FileSystem {
  const limits = { ...DEFAULT_FILE_SYSTEM_LIMITS, ...options.limits };
  return { createConnectionFileSystem: (connection) => createConnectionFileSystem(limits, connection) };
}

function createConnectionFileSystem(
  limits: FileSystemLimits,
  { onMissingChanged }: ConnectionFileSystemOptions,
): ConnectionFileSystem {
  const order = createOrder(MAX_CONCURRENT_READS);
  const handles = new FileHandles();
  const missingWatch = new MissingWatch(onMissingChanged);
  const gone = new AbortController();
  let disposed: Promise<void> | undefined;

  const alive =
    <T>(work: () => Promise<T>) =>
    async (): Promise<T> => {
      gone.signal.throwIfAborted();
      return work();
    };
  const shared = <T>(work: () => Promise<T>): Promise<T> => order.shared(alive(work));
  const exclusive = <T>(work: () => Promise<T>): Promise<T> => order.exclusive(alive(work));
  const unsandboxed =
    <Params extends Sandboxed, T>(inTurn: typeof shared, method: string, run: (params: Params) => Promise<T>) =>
    (params: Params): Promise<T> =>
      inTurn(async () => {
        refuseSandbox(method, params.sandbox);
        return run(params);
      });

  return {
    readFile: unsandboxed(shared, METHODS.fsReadFile, async ({ path, followSymlinks }) =>
      readWholeFile(await handles.contentPath(path, followSymlinks), followSymlinks, limits.maxReadFileBytes),
    ),
    getMetadata: unsandboxed(shared, METHODS.fsGetMetadata, getMetadata),
    canonicalize: unsandboxed(shared, METHODS.fsCanonicalize, canonicalize),
    readDirectory: unsandboxed(shared, METHODS.fsReadDirectory, (params) =>
      readDirectory(params, limits.maxDirectoryEntries),
    ),
    walk: unsandboxed(shared, METHODS.fsWalk, (params) => walk(params, limits.maxWalkEntries, gone.signal)),
    readBlock: (params) => shared(() => handles.readBlock(params)),
    watchMissing: (params) => shared(async () => ({ watching: await missingWatch.watch(params) })),
    writeFile: unsandboxed(exclusive, METHODS.fsWriteFile, writeWholeFile),
    createDirectory: unsandboxed(exclusive, METHODS.fsCreateDirectory, createDirectory),
    remove: unsandboxed(exclusive, METHODS.fsRemove, (params) => remove(params, gone.signal)),
    copy: unsandboxed(exclusive, METHODS.fsCopy, (params) => copy(params, gone.signal)),
    open: unsandboxed(exclusive, METHODS.fsOpen, (params) => handles.open(params)),
    writeBlock: (params) => exclusive(() => handles.writeBlock(params)),
    close: ({ handleId }) => exclusive(() => handles.close(handleId)),
    dispose: () => {
      gone.abort(new RpcError(ERROR_CODES.internal, "the connection is gone"));
      missingWatch.dispose();
      disposed ??= order.exclusive(() => handles.dispose());
      return disposed;
    },
  };
}
