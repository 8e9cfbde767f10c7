import * as z from "zod/mini";
import { decodeParams, lazily } from "./decode.js";
import { base64Member, optional, pathMember, unsigned, withDefault } from "./members.js";
import { ERROR_CODES, METHODS } from "./methods.js";
import { decodePlainParams } from "./plain-params.js";
import { sandboxMember } from "./sandbox.js";

const followSymlinks = lazily(() => withDefault(z.boolean(), true));
/** Asks for more than Codex 0.169.0 tells. */
const extended = lazily(() => withDefault(z.boolean(), false));
const common = lazily(() => ({ path: pathMember, sandbox: sandboxMember() }));

const readFileSchema = lazily(() => z.object({ ...common(), followSymlinks: followSymlinks() }));
const writeFileSchema = lazily(() =>
  z.object({
    ...common(),
    dataBase64: base64Member(`${METHODS.fsWriteFile} requires valid base64 dataBase64: `, ERROR_CODES.invalidRequest),
    followSymlinks: followSymlinks(),
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
    /** A path that is not there is no error. */
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
      /** 0 lists the direct children alone. */
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
    /** `replace` makes a new content that takes the place of the old one when the handle is closed. */
    mode: withDefault(z.enum(["read", "replace"]), "read"),
  }),
);
const readBlockSchema = lazily(() => z.object({ handleId: z.string(), offset: unsigned, len: unsigned }));
const writeBlockSchema = lazily(() => z.object({ handleId: z.string(), offset: unsigned, chunk: base64Member() }));
const closeSchema = lazily(() => z.object({ handleId: z.string() }));
const watchMissingSchema = lazily(() =>
  z.object({ watchId: unsigned, missing: z.array(pathMember), present: optional(pathMember) }),
);

export type ReadFileParams = z.output<ReturnType<typeof readFileSchema>>;
export type WriteFileParams = z.output<ReturnType<typeof writeFileSchema>>;
export type CreateDirectoryParams = z.output<ReturnType<typeof createDirectorySchema>>;
export type GetMetadataParams = z.output<ReturnType<typeof getMetadataSchema>>;
export type CanonicalizeParams = z.output<ReturnType<typeof canonicalizeSchema>>;
export type ReadDirectoryParams = z.output<ReturnType<typeof readDirectorySchema>>;
export type RemoveParams = z.output<ReturnType<typeof removeSchema>>;
export type CopyParams = z.output<ReturnType<typeof copySchema>>;
export type WalkParams = z.output<ReturnType<typeof walkSchema>>;
export type WalkOptions = WalkParams["options"];
export type OpenParams = z.output<ReturnType<typeof openSchema>>;
export type ReadBlockParams = z.output<ReturnType<typeof readBlockSchema>>;
export type WriteBlockParams = z.output<ReturnType<typeof writeBlockSchema>>;
export type CloseParams = z.output<ReturnType<typeof closeSchema>>;
export type WatchMissingParams = z.output<ReturnType<typeof watchMissingSchema>>;

/** Of the target where the path is a symbolic link; `isSymlink` alone is of the path itself. */
export interface Metadata {
  isDirectory: boolean;
  isFile: boolean;
  isSymlink: boolean;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970; 0 unless asked for with `extended` or without following links, as in Codex 0.169.0. */
  createdAtMs: number;
  modifiedAtMs: number;
  /** Permission bits; with `extended` alone. */
  mode?: number;
}

export interface DirectoryEntry {
  fileName: string;
  isDirectory: boolean;
  isFile: boolean;
  /** With `extended` alone; such an answer also has the links that lead nowhere. */
  isSymlink?: boolean;
}

export interface ReadDirectoryResult {
  entries: DirectoryEntry[];
}

export interface CanonicalizeResult {
  path: string;
}

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

export interface WatchMissingResult {
  watching: boolean;
}

export const decodeReadFile = (params: unknown): ReadFileParams =>
  decodePlainParams(params, { followSymlinks: true }) ?? decodeParams(readFileSchema, params, "FsReadFileParams");
export const decodeWriteFile = (params: unknown): WriteFileParams =>
  decodeParams(writeFileSchema, params, "FsWriteFileParams");
export const decodeCreateDirectory = (params: unknown): CreateDirectoryParams =>
  decodeParams(createDirectorySchema, params, "FsCreateDirectoryParams");
export const decodeGetMetadata = (params: unknown): GetMetadataParams =>
  decodePlainParams(params, { followSymlinks: true, extended: false }) ??
  decodeParams(getMetadataSchema, params, "FsGetMetadataParams");
export const decodeCanonicalize = (params: unknown): CanonicalizeParams =>
  decodeParams(canonicalizeSchema, params, "FsCanonicalizeParams");
export const decodeReadDirectory = (params: unknown): ReadDirectoryParams =>
  decodePlainParams(params, { extended: false }) ?? decodeParams(readDirectorySchema, params, "FsReadDirectoryParams");
export const decodeRemove = (params: unknown): RemoveParams => decodeParams(removeSchema, params, "FsRemoveParams");
export const decodeCopy = (params: unknown): CopyParams => decodeParams(copySchema, params, "FsCopyParams");
export const decodeWalk = (params: unknown): WalkParams => decodeParams(walkSchema, params, "FsWalkParams");
export const decodeOpen = (params: unknown): OpenParams => decodeParams(openSchema, params, "FsOpenParams");
export const decodeReadBlock = (params: unknown): ReadBlockParams =>
  decodeParams(readBlockSchema, params, "FsReadBlockParams");
export const decodeWriteBlock = (params: unknown): WriteBlockParams =>
  decodeParams(writeBlockSchema, params, "FsWriteBlockParams");
export const decodeClose = (params: unknown): CloseParams => decodeParams(closeSchema, params, "FsCloseParams");
export const decodeWatchMissing = (params: unknown): WatchMissingParams =>
  decodeParams(watchMissingSchema, params, "FsWatchMissingParams");
