import * as z from "zod/mini";
import { decodeParams, lazily } from "./decode.js";
import { base64Member, optional, pathMember, unsigned, withDefault } from "./members.js";
import { ERROR_CODES, METHODS } from "./methods.js";
import { decodePlainParams } from "./plain-params.js";
import { sandboxMember } from "./sandbox.js";

const followSymlinks = lazily(() => withDefault(z.boolean(), true));
/** Requests members that Codex 0.169.0 does not report. */
const extended = lazily(() => withDefault(z.boolean(), false));
/** All permission bits, and those of set-user-id, set-group-id and sticky. */
const MAX_MODE = 0o7777;
const common = lazily(() => ({ path: pathMember, sandbox: sandboxMember() }));

const readFileSchema = lazily(() => z.object({ ...common(), followSymlinks: followSymlinks() }));
const writeFileSchema = lazily(() =>
  z.object({
    ...common(),
    dataBase64: base64Member(`${METHODS.fsWriteFile} requires valid base64 dataBase64: `, ERROR_CODES.invalidRequest),
    followSymlinks: followSymlinks(),
    /** Permission bits that the file gets; Codex 0.169.0 ignores it. */
    mode: optional(z.int().check(z.nonnegative(), z.maximum(MAX_MODE))),
    /** The old content is kept until the new one is whole. Codex 0.169.0 ignores it; no effect without `followSymlinks`. */
    atomic: optional(z.boolean()),
    /** With `atomic`: what the path must have, or it stays as it is: no file, or the content with this hash. Codex 0.169.0 ignores it. */
    expected: optional(z.string().check(z.regex(/^(?:missing|sha256:[0-9a-f]{64})$/))),
  }),
);
const createDirectorySchema = lazily(() =>
  z.object({ ...common(), recursive: withDefault(z.boolean(), true), followSymlinks: followSymlinks() }),
);
const getMetadataSchema = lazily(() =>
  z.object({ ...common(), followSymlinks: followSymlinks(), extended: extended() }),
);
const canonicalizeSchema = lazily(() => z.object(common()));
const readDirectorySchema = lazily(() => z.object({ ...common(), extended: extended() }));
const removeSchema = lazily(() =>
  z.object({
    ...common(),
    recursive: withDefault(z.boolean(), true),
    /** A missing path is not an error. */
    force: withDefault(z.boolean(), true),
    followSymlinks: followSymlinks(),
  }),
);
const copySchema = lazily(() =>
  z.object({
    sourcePath: pathMember,
    destinationPath: pathMember,
    recursive: z.boolean(),
    sandbox: sandboxMember(),
  }),
);
const walkSchema = lazily(() =>
  z.object({
    ...common(),
    options: z.object({
      /** 0 lists the direct children only. */
      maxDepth: unsigned,
      /** Directories that are read, the root included. */
      maxDirectories: unsigned,
      maxEntries: unsigned,
      followDirectorySymlinks: z.boolean(),
      /** Lists directories whose name begins with a dot, but does not enter them. */
      pruneHiddenDirectories: z.boolean(),
    }),
  }),
);
const openSchema = lazily(() =>
  z.object({
    handleId: z.string(),
    ...common(),
    /** `replace` writes a new content, which replaces the old one when the handle is closed. */
    mode: withDefault(z.enum(["read", "replace"]), "read"),
  }),
);
const readBlockSchema = lazily(() => z.object({ handleId: z.string(), offset: unsigned, len: unsigned }));
const writeBlockSchema = lazily(() => z.object({ handleId: z.string(), offset: unsigned, chunk: base64Member() }));
const closeSchema = lazily(() => z.object({ handleId: z.string() }));
const watchMissingSchema = lazily(() =>
  z.object({ watchId: unsigned, missing: z.array(pathMember), present: optional(pathMember) }),
);

/** Parameters of `fs/readFile`. */
export type ReadFileParams = z.output<ReturnType<typeof readFileSchema>>;
/** Parameters of `fs/writeFile`. */
export type WriteFileParams = z.output<ReturnType<typeof writeFileSchema>>;
/** Parameters of `fs/createDirectory`. */
export type CreateDirectoryParams = z.output<ReturnType<typeof createDirectorySchema>>;
/** Parameters of `fs/getMetadata`. */
export type GetMetadataParams = z.output<ReturnType<typeof getMetadataSchema>>;
/** Parameters of `fs/canonicalize`. */
export type CanonicalizeParams = z.output<ReturnType<typeof canonicalizeSchema>>;
/** Parameters of `fs/readDirectory`. */
export type ReadDirectoryParams = z.output<ReturnType<typeof readDirectorySchema>>;
/** Parameters of `fs/remove`. */
export type RemoveParams = z.output<ReturnType<typeof removeSchema>>;
/** Parameters of `fs/copy`. */
export type CopyParams = z.output<ReturnType<typeof copySchema>>;
/** Parameters of `fs/walk`. */
export type WalkParams = z.output<ReturnType<typeof walkSchema>>;
/** How far a walk goes. */
export type WalkOptions = WalkParams["options"];
/** Parameters of `fs/open`; the client chooses `handleId`. */
export type OpenParams = z.output<ReturnType<typeof openSchema>>;
/** Parameters of `fs/readBlock`: `offset` and `len` in bytes. */
export type ReadBlockParams = z.output<ReturnType<typeof readBlockSchema>>;
/** Parameters of `fs/writeBlock`: `offset` in bytes. */
export type WriteBlockParams = z.output<ReturnType<typeof writeBlockSchema>>;
/** Parameters of `fs/close`. */
export type CloseParams = z.output<ReturnType<typeof closeSchema>>;
/** Parameters of `fs/watchMissing`: paths that are not there, or one that is, to be watched for a change. */
export type WatchMissingParams = z.output<ReturnType<typeof watchMissingSchema>>;

/** Describes the target if the path is a symbolic link; only `isSymlink` describes the path itself. */
export interface Metadata {
  isDirectory: boolean;
  isFile: boolean;
  isSymlink: boolean;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970; 0 unless asked for with `extended` or without following links, as in Codex 0.169.0. */
  createdAtMs: number;
  modifiedAtMs: number;
  /** Permission bits; with `extended` only. */
  mode?: number;
}

/** One entry of a directory. The kinds are those of the target where the entry is a symbolic link. */
export interface DirectoryEntry {
  fileName: string;
  isDirectory: boolean;
  isFile: boolean;
  /** With `extended` only; such a response also lists dangling links. */
  isSymlink?: boolean;
}

export interface ReadDirectoryResult {
  entries: DirectoryEntry[];
}

/** The response to `fs/canonicalize`: a `file:` URI without links. */
export interface CanonicalizeResult {
  path: string;
}

/** The response to `fs/walk`; paths are `file:` URIs. */
export interface WalkResult {
  entries: { path: string; kind: "file" | "directory" }[];
  /** Directories that could not be read. */
  errors: { path: string; message: string }[];
  /** There was more than a limit allowed. */
  truncated: boolean;
}

export interface OpenResult {
  handleId: string;
}

/** The response to `fs/watchMissing`: whether the paths are watched from now on. */
export interface WatchMissingResult {
  watching: boolean;
}

/** Validates the parameters of `fs/readFile`. @throws RpcError `invalidParams` */
export const decodeReadFile = (params: unknown): ReadFileParams =>
  decodePlainParams(params, { followSymlinks: true }) ?? decodeParams(readFileSchema, params, "FsReadFileParams");
/** Validates the parameters of `fs/writeFile`. @throws RpcError `invalidParams` */
export const decodeWriteFile = (params: unknown): WriteFileParams =>
  decodeParams(writeFileSchema, params, "FsWriteFileParams");
/** Validates the parameters of `fs/createDirectory`. @throws RpcError `invalidParams` */
export const decodeCreateDirectory = (params: unknown): CreateDirectoryParams =>
  decodeParams(createDirectorySchema, params, "FsCreateDirectoryParams");
/** Validates the parameters of `fs/getMetadata`. @throws RpcError `invalidParams` */
export const decodeGetMetadata = (params: unknown): GetMetadataParams =>
  decodePlainParams(params, { followSymlinks: true, extended: false }) ??
  decodeParams(getMetadataSchema, params, "FsGetMetadataParams");
/** Validates the parameters of `fs/canonicalize`. @throws RpcError `invalidParams` */
export const decodeCanonicalize = (params: unknown): CanonicalizeParams =>
  decodeParams(canonicalizeSchema, params, "FsCanonicalizeParams");
/** Validates the parameters of `fs/readDirectory`. @throws RpcError `invalidParams` */
export const decodeReadDirectory = (params: unknown): ReadDirectoryParams =>
  decodePlainParams(params, { extended: false }) ?? decodeParams(readDirectorySchema, params, "FsReadDirectoryParams");
/** Validates the parameters of `fs/remove`. @throws RpcError `invalidParams` */
export const decodeRemove = (params: unknown): RemoveParams => decodeParams(removeSchema, params, "FsRemoveParams");
/** Validates the parameters of `fs/copy`. @throws RpcError `invalidParams` */
export const decodeCopy = (params: unknown): CopyParams => decodeParams(copySchema, params, "FsCopyParams");
/** Validates the parameters of `fs/walk`. @throws RpcError `invalidParams` */
export const decodeWalk = (params: unknown): WalkParams => decodeParams(walkSchema, params, "FsWalkParams");
/** Validates the parameters of `fs/open`. @throws RpcError `invalidParams` */
export const decodeOpen = (params: unknown): OpenParams => decodeParams(openSchema, params, "FsOpenParams");
/** Validates the parameters of `fs/readBlock`. @throws RpcError `invalidParams` */
export const decodeReadBlock = (params: unknown): ReadBlockParams =>
  decodeParams(readBlockSchema, params, "FsReadBlockParams");
/** Validates the parameters of `fs/writeBlock`. @throws RpcError `invalidParams` */
export const decodeWriteBlock = (params: unknown): WriteBlockParams =>
  decodeParams(writeBlockSchema, params, "FsWriteBlockParams");
/** Validates the parameters of `fs/close`. @throws RpcError `invalidParams` */
export const decodeClose = (params: unknown): CloseParams => decodeParams(closeSchema, params, "FsCloseParams");
/** Validates the parameters of `fs/watchMissing`. @throws RpcError `invalidParams` */
export const decodeWatchMissing = (params: unknown): WatchMissingParams =>
  decodeParams(watchMissingSchema, params, "FsWatchMissingParams");

/** Decoders of the params of `fs/*`, by the name of the method. Each throws an RpcError that names the member. */
export const fsDecoders = {
  readFile: decodeReadFile,
  writeFile: decodeWriteFile,
  createDirectory: decodeCreateDirectory,
  getMetadata: decodeGetMetadata,
  canonicalize: decodeCanonicalize,
  readDirectory: decodeReadDirectory,
  remove: decodeRemove,
  copy: decodeCopy,
  walk: decodeWalk,
  open: decodeOpen,
  readBlock: decodeReadBlock,
  writeBlock: decodeWriteBlock,
  close: decodeClose,
  watchMissing: decodeWatchMissing,
} as const;
