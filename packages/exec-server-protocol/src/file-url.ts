import { type HostPath, pathBytes, toHostPath } from "./host-path.js";

/** A parsed path member of a request. `foreign` is a valid URI of another kind of host. */
export type ParsedFileUrl =
  | { kind: "ok"; path: HostPath }
  | { kind: "invalid"; problem: string }
  | { kind: "foreign"; problem: string };

/** How `parseFileUrl` reads a path member. */
export interface FileUrlOptions {
  /** Absolute paths are taken as they are; the first exec-servers had no URIs. Default false. */
  allowNative?: boolean;
  platform?: NodeJS.Platform;
}

/** The path of a `file:` URI: without authority or with `localhost`, percent-encoded, no query, no fragment. */
export function parseFileUrl(text: string, options: FileUrlOptions = {}): ParsedFileUrl {
  const { allowNative = false, platform = process.platform } = options;
  const host = HOST_NAMES[platform] ?? platform;
  if (allowNative && text.startsWith("/")) return parseNative(text, host);
  const plain = parsePlainFileUrl(text);
  if (plain !== undefined) return { kind: "ok", path: plain };
  if (!SCHEME.test(text)) return invalid("invalid URI: relative URL without a base");
  const url = tryParse(text);
  if (url === null) return invalid(`invalid URI: \`${text}\` has no valid host or port`);
  if (url.protocol !== "file:") return invalid(`unsupported path URI scheme \`${url.protocol.slice(0, -1)}\``);
  if (text.includes("#")) return invalid("fragments are not allowed in path URIs");
  if (text.includes("?")) return invalid("query parameters are not allowed in path URIs");
  if (url.host !== "" || DRIVE.test(url.pathname))
    return { kind: "foreign", problem: `'${text}' is invalid on '${host}'` };
  const bytes = decodePercent(url.pathname);
  if (bytes.includes(0)) return invalid(`'${url.href}' is invalid on '${host}'`);
  return { kind: "ok", path: toPath(bytes) };
}

/** A fast path for URIs without escapes; undefined for all others, valid or not. */
export const parsePlainFileUrl = (text: string): string | undefined =>
  PLAIN_URL.test(text) ? text.slice(FILE_SCHEME.length) : undefined;

/** The `file:` URI of an absolute path. */
export function toFileUrl(path: HostPath): string {
  if (typeof path === "string" && PLAIN.test(path)) return `file://${path}`;
  let url = "file://";
  for (const byte of pathBytes(path)) {
    const character = String.fromCharCode(byte);
    url += PLAIN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return url;
}

const FILE_SCHEME = "file://";

/** Nothing to decode, no empty names, no `.` and `..`, no drives. */
const PLAIN_URL = /^file:\/\/(?:\/(?!\.\.?(?:\/|$))[\w.~@+=,-]+)+$/;

/** Leading blanks are not part of the URI. */
const SCHEME = /^[\0-\x20]*[A-Za-z][A-Za-z0-9+.-]*:/;
const DRIVE = /^\/[A-Za-z]:(\/|$)/;
/** Characters that are not escaped in a path of a `file:` URI. */
const PLAIN = /^[A-Za-z0-9/._~!$&'()*+,;=:@[\]^|-]*$/;
const HOST_NAMES: Partial<Record<NodeJS.Platform, string>> = { darwin: "macos", win32: "windows" };

const invalid = (problem: string): ParsedFileUrl => ({ kind: "invalid", problem });

function parseNative(text: string, host: string): ParsedFileUrl {
  if (text.includes("\0")) return invalid(`'${text.replaceAll("\0", "%00")}' is invalid on '${host}'`);
  return { kind: "ok", path: toPath(Buffer.from(text)) };
}

function tryParse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** `%` that is not followed by two hexadecimal digits stays as it is. */
function decodePercent(text: string): Buffer {
  if (!text.includes("%")) return Buffer.from(text);
  const latin1 = text.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(latin1, "latin1");
}

/** Slashes in a row count as one; one at the end would ask the system for a directory. */
function toPath(bytes: Buffer): HostPath {
  const text = bytes.toString("latin1").replace(/\/{2,}/g, "/");
  return toHostPath(Buffer.from(text.length > 1 && text.endsWith("/") ? text.slice(0, -1) : text, "latin1"));
}
