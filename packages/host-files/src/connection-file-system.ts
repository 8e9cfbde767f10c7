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
  ReadFileParams,
  RemoveParams,
  WalkParams,
  WalkResult,
  WatchMissingParams,
  WatchMissingResult,
  WriteBlockParams,
  WriteFileParams,
} from "@codex/exec-server-protocol";
import type { ReserveBytes } from "./operations/read-file.js";

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
  /** `reserve` is asked for a place for the bytes before they are read. */
  readFile(params: ReadFileParams, reserve?: ReserveBytes): Promise<Buffer>;
  writeFile(params: WriteFileParams): Promise<void>;
  createDirectory(params: CreateDirectoryParams): Promise<void>;
  getMetadata(params: GetMetadataParams): Promise<Metadata>;
  canonicalize(params: CanonicalizeParams): Promise<CanonicalizeResult>;
  /** The JSON of a ReadDirectoryResult. */
  readDirectory(params: ReadDirectoryParams): Promise<Buffer>;
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

export interface FileBlock {
  bytes: Buffer;
  /** Fewer bytes were left than asked for. */
  eof: boolean;
}
