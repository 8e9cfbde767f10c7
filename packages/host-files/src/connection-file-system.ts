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

/** The files of this host, shared by all connections. */
export interface FileSystem {
  /** Creates the state of one connection, which the connection ends with `dispose`. */
  createConnectionFileSystem(options: ConnectionFileSystemOptions): ConnectionFileSystem;
}

/** Callbacks of one connection. */
export interface ConnectionFileSystemOptions {
  /** A watched missing path has appeared, or `present` has gone. Never called before the response that reported `watching`. */
  onMissingChanged(watchId: number): void;
}

/**
 * The file calls of one connection. Calls take effect in the order they are made: a write waits for all calls before it
 * and blocks all calls after it, so requests may be pipelined. Every failure is an RpcError.
 */
export interface ConnectionFileSystem {
  /** `reserve` is awaited with the size of the file, in bytes, before it is read. */
  readFile(params: ReadFileParams, reserve?: ReserveBytes): Promise<Buffer>;
  writeFile(params: WriteFileParams): Promise<void>;
  createDirectory(params: CreateDirectoryParams): Promise<void>;
  getMetadata(params: GetMetadataParams): Promise<Metadata>;
  canonicalize(params: CanonicalizeParams): Promise<CanonicalizeResult>;
  /** The JSON of a ReadDirectoryResult. `reserve` is awaited before a large directory is listed further. */
  readDirectory(params: ReadDirectoryParams, reserve?: ReserveBytes): Promise<Buffer>;
  walk(params: WalkParams): Promise<WalkResult>;
  remove(params: RemoveParams): Promise<void>;
  copy(params: CopyParams): Promise<void>;
  open(params: OpenParams): Promise<void>;
  readBlock(params: ReadBlockParams): Promise<FileBlock>;
  writeBlock(params: WriteBlockParams): Promise<void>;
  close(params: CloseParams): Promise<void>;
  watchMissing(params: WatchMissingParams): Promise<WatchMissingResult>;
  /**
   * Ends the connection: aborts running calls, closes handles and discards unfinished replacements.
   * Resolves once all resources are freed. Idempotent; never rejects.
   */
  dispose(): Promise<void>;
}

/** A block of an open file. */
export interface FileBlock {
  bytes: Buffer;
  /** Fewer bytes than requested were left. */
  eof: boolean;
}
