import type { ConnectionFileSystem, FileBlock } from "../connection-file-system.js";

/** The calls that can run in a sandbox. */
export type FileMethod = Exclude<keyof ConnectionFileSystem, "watchMissing" | "dispose">;

/** Header of every frame to the helper but the first, which carries the limits. */
export interface CallHeader {
  id: number;
  method: FileMethod;
  params: unknown;
}

/** Header of a frame from the helper. */
export type ResponseHeader = { id: number; result: unknown } | { id: number; error: { code: number; message: string } };

/** Params or a result split for a frame: JSON, and bytes that are not worth encoding as text. */
export interface Packed {
  value: unknown;
  bytes?: Uint8Array | undefined;
}

/** The member of the params that is sent as the body of the frame. */
const BYTES_MEMBERS: Partial<Record<FileMethod, string>> = { writeFile: "dataBase64", writeBlock: "chunk" };
const PATH_MEMBERS = ["path", "sourcePath", "destinationPath"] as const;

/** Splits params into header and body. The sandbox is dropped: the helper runs inside it. */
export function packParams(method: FileMethod, params: object): Packed {
  const { sandbox: _dropped, ...value } = params as Record<string, unknown>;
  const member = BYTES_MEMBERS[method];
  const bytes = member === undefined ? undefined : (value[member] as Uint8Array);
  if (member !== undefined) delete value[member];
  for (const name of PATH_MEMBERS) {
    const path = value[name];
    // A path that is not UTF-8 is sent as a one-element array of a latin1 string.
    if (Buffer.isBuffer(path)) value[name] = [path.toString("latin1")];
  }
  return { value, bytes };
}

export function unpackParams(method: FileMethod, { value, bytes }: Packed): unknown {
  const params = { ...(value as Record<string, unknown>) };
  const member = BYTES_MEMBERS[method];
  if (member !== undefined) params[member] = bytes;
  for (const name of PATH_MEMBERS) {
    const path = params[name];
    if (Array.isArray(path)) params[name] = Buffer.from(path[0] as string, "latin1");
  }
  return params;
}

/** The calls whose result is only bytes. */
const BYTES_RESULTS: readonly FileMethod[] = ["readFile", "readDirectory"];

export function packResult(method: FileMethod, result: unknown): Packed {
  if (BYTES_RESULTS.includes(method)) return { value: null, bytes: result as Buffer };
  if (method !== "readBlock") return { value: result ?? null };
  const { bytes, eof } = result as FileBlock;
  return { value: { eof }, bytes };
}

export function unpackResult(method: FileMethod, { value, bytes }: Packed): unknown {
  if (BYTES_RESULTS.includes(method)) return bytes;
  if (method !== "readBlock") return value ?? undefined;
  return { bytes, eof: (value as { eof: boolean }).eof };
}
