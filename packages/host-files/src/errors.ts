import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";
import { RpcError } from "@codex/channel";
import { errnoOf } from "@codex/exec-backend";
import { displayPath, ERROR_CODES, type HostPath } from "@codex/exec-server-protocol";
import { messageOf } from "@codex/values";

/** Maps a failed file operation to its wire error, with the path in the message. An RpcError is returned unchanged. */
export function toRpcError(error: unknown, path?: HostPath): RpcError {
  if (error instanceof RpcError) return error;
  const suffix = path === undefined ? "" : `: ${displayPath(path)}`;
  return new RpcError(codeOf(errnoOf(error)), `${describeError(error)}${suffix}`, { cause: error });
}

/** The message of the operating system with its errno: `No such file or directory (os error 2)`. */
export function describeError(error: unknown): string {
  const name = errnoOf(error);
  const number = name === undefined ? undefined : ERROR_NUMBERS.get(name);
  if (name === undefined || number === undefined) return messageOf(error);
  return `${TEXTS[name] ?? getSystemErrorMap().get(-number)?.[1] ?? name} (os error ${number})`;
}

/** An error with the `code` that a failed system call would have. */
export function systemError(name: ErrorName): Error {
  return Object.assign(new Error(name), { code: name });
}

export type ErrorName = "EACCES" | "EBADF" | "EBUSY" | "EEXIST" | "EISDIR" | "ELOOP" | "ENOENT" | "ENOTDIR";

/** Runs a step of an operation; a failure becomes an RpcError that names the path. */
export async function withErrorPath<T>(path: HostPath, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw toRpcError(error, path);
  }
}

export const notAFile = (path: HostPath): RpcError =>
  new RpcError(ERROR_CODES.invalidRequest, `path \`${displayPath(path)}\` is not a file`);

/** A file has changed since its caller looked at it. */
export const changedError = (path: HostPath): RpcError =>
  new RpcError(ERROR_CODES.contentChanged, `something else changed \`${displayPath(path)}\` in the meantime`);

/** A file was written in part, and neither finished nor restored. `whole`: where its new or old content is. */
export function tornError(error: unknown, path: HostPath, whole?: { name: "old" | "new"; path: HostPath }): RpcError {
  const where = whole === undefined ? "" : `; its ${whole.name} content is in \`${displayPath(whole.path)}\``;
  const message = `${describeError(error)}: only a part of \`${displayPath(path)}\` was written${where}`;
  return new RpcError(codeOf(errnoOf(error)), message, { cause: error });
}

export const invalidRequest = (message: string): RpcError => new RpcError(ERROR_CODES.invalidRequest, message);

function codeOf(name: string | undefined): number {
  switch (name) {
    case "ENOENT":
      return ERROR_CODES.notFound;
    case "EACCES":
    case "EPERM":
    case "EINVAL":
      return ERROR_CODES.invalidRequest;
    default:
      return ERROR_CODES.internal;
  }
}

const ERROR_NUMBERS: ReadonlyMap<string, number> = new Map(Object.entries(constants.errno));

/** Messages where libuv differs from the C library, whose texts clients expect. */
const TEXTS: Readonly<Record<string, string>> = {
  EACCES: "Permission denied",
  EBADF: "Bad file descriptor",
  EBUSY: "Resource busy",
  EEXIST: "File exists",
  EFBIG: "File too large",
  EINVAL: "Invalid argument",
  EIO: "I/O error",
  EISDIR: "Is a directory",
  ELOOP: "Symbolic link loop",
  EMFILE: "No file descriptors available",
  ENAMETOOLONG: "Filename too long",
  ENOENT: "No such file or directory",
  ENOSPC: "No space left on device",
  ENOTDIR: "Not a directory",
  ENOTEMPTY: "Directory not empty",
  ENXIO: "No such device or address",
  EPERM: "Operation not permitted",
  EROFS: "Read-only file system",
  ETXTBSY: "Text file busy",
  EXDEV: "Cross-device link",
};
