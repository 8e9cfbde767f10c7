import { isUtf8 } from "node:buffer";
import { posix } from "node:path";

/** An absolute path of this host. Bytes only if the name is not UTF-8: Linux names are bytes. */
export type HostPath = string | Buffer;

/** The path of these bytes. */
export const toHostPath = (bytes: Buffer): HostPath => (isUtf8(bytes) ? bytes.toString() : bytes);

/** The bytes of a path. */
export const pathBytes = (path: HostPath): Buffer => (typeof path === "string" ? Buffer.from(path) : path);

/** For display: bytes that are not UTF-8 appear as U+FFFD. */
export const displayPath = (path: HostPath): string => (typeof path === "string" ? path : path.toString());

/** `name` below `directory`, normalized as `path.posix.join` does. */
export const joinPath = (directory: HostPath, name: HostPath): HostPath => {
  if (typeof directory === "string" && typeof name === "string") return posix.join(directory, name);
  return fromLatin1(posix.join(toLatin1(directory), toLatin1(name)));
};

/** `base` itself, or `path` as seen from `base`. */
export const resolvePath = (base: HostPath, path: HostPath): HostPath =>
  fromLatin1(posix.resolve(toLatin1(base), toLatin1(path)));

/** The directory that holds a path; of `/` it is `/`. */
export const parentPath = (path: HostPath): HostPath =>
  typeof path === "string" ? posix.dirname(path) : fromLatin1(posix.dirname(toLatin1(path)));

/** The last part of a path. */
export const baseName = (path: HostPath): HostPath =>
  typeof path === "string" ? posix.basename(path) : fromLatin1(posix.basename(toLatin1(path)));

/** Whether two paths have the same bytes; links are not followed. */
export const isSamePath = (one: HostPath, other: HostPath): boolean => pathBytes(one).equals(pathBytes(other));

/** Whether `path` lies below `directory`; not when they are the same. */
export function isBelow(path: HostPath, directory: HostPath): boolean {
  const parent = toLatin1(directory);
  return toLatin1(path).startsWith(parent.endsWith("/") ? parent : `${parent}/`) && !isSamePath(path, directory);
}

/** One character for each byte: path functions only interpret ASCII. */
const toLatin1 = (path: HostPath): string => pathBytes(path).toString("latin1");

const fromLatin1 = (text: string): HostPath => toHostPath(Buffer.from(text, "latin1"));
