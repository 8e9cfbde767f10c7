import type { ConnectionFileSystem, FileBlock } from "../connection-file-system.js";

/** The calls that can be made under a sandbox. */
export type FileMethod = Exclude<keyof ConnectionFileSystem, "watchMissing" | "dispose">;

/** Header of every frame to the helper but the first, which carries the limits. */
export interface CallHeader {
  id: number;
  method: FileMethod;
  params: unknown;
}

/** Header of a frame from the helper. */
export type AnswerHeader = { id: number; result: unknown } | { id: number; error: { code: number; message: string } };

/** A call or its answer on the way: the JSON, and the bytes beside it. */
export interface Packed {
  value: unknown;
  bytes?: Uint8Array | undefined;
}

/** The member of the params whose bytes travel beside them. */
const BYTES_MEMBERS: Partial<Record<FileMethod, string>> = { writeFile: "dataBase64", writeBlock: "chunk" };
const PATH_MEMBERS = ["path", "sourcePath", "destinationPath"] as const;

/** The sandbox is not part of it: the helper is within. */
export function packParams(method: FileMethod, params: object): Packed {
  const { sandbox: _held, ...value } = params as Record<string, unknown>;
  const member = BYTES_MEMBERS[method];
  const bytes = member === undefined ? undefined : (value[member] as Uint8Array);
  if (member !== undefined) delete value[member];
  for (const name of PATH_MEMBERS) {
    const path = value[name];
    // Names that are no text: as an array of one string, each character a byte.
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

/** The calls whose result is bytes and nothing else. */
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
