import { closeSync, constants, fstatSync, open } from "node:fs";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import type { ReadDirectoryParams } from "@codex/exec-server-protocol";
import { type HostPath, joinPath } from "@codex/exec-server-protocol";
import type { EntryReader } from "@codex/native";
import { invalidRequest, withErrorPath } from "../errors.js";
import { DIRECTORY_RECORDS_BYTES, LARGE_LISTING_BYTES, LARGE_LISTING_ENTRIES } from "../limits.js";
import { refuseOwnDirectory } from "../paths/own-process.js";
import type { Reach } from "../paths/reach.js";
import { EntryListEncoder, encodeFacts } from "./entry-list-encoder.js";
import { type ListedEntry, listBatches } from "./list-directory.js";
import type { ReserveBytes } from "./read-file.js";

/**
 * Lists a directory in directory order, as the JSON of a ReadDirectoryResult. Links are reported as their target; dangling
 * links are left out unless `extended`.
 */
export function readDirectory(
  { path, extended }: ReadDirectoryParams,
  { maxEntries, reader, reserve, reach }: ReadDirectoryOptions,
): Promise<Buffer> {
  return withErrorPath(path, async () => {
    const createListing = () => new Listing(path, extended, maxEntries, reach);
    let reserved: Promise<void> | undefined;
    const makeRoom = ({ count }: Listing) => {
      if (count > LARGE_LISTING_ENTRIES) reserved ??= reserve?.(LARGE_LISTING_BYTES);
      return reserved;
    };
    const text = reader?.isReady() ? await readRecords(reader, path, createListing(), makeRoom) : undefined;
    return text ?? (await readBatches(path, createListing(), makeRoom));
  });
}

/** How a directory is listed. */
export interface ReadDirectoryOptions {
  maxEntries: number;
  reader?: EntryReader | undefined;
  /** Called once for a listing that becomes large. */
  reserve?: ReserveBytes | undefined;
  reach?: Reach | undefined;
}

/** Waits until there is memory for the rest of a large listing. */
type MakeRoom = (listing: Listing) => Promise<void> | undefined;

async function readBatches(path: HostPath, listing: Listing, makeRoom: MakeRoom): Promise<Buffer> {
  await refuseOwnDirectory(path, await stat(path));
  for await (const batch of listBatches(path)) {
    await makeRoom(listing);
    for (const { name, kind } of batch) {
      const added = listing.add(name, 0, name.length, kind);
      if (added !== undefined) await added;
    }
  }
  return listing.end();
}

/** Undefined where that fails: the regular way then reports the error. */
async function readRecords(
  reader: EntryReader,
  path: HostPath,
  listing: Listing,
  makeRoom: MakeRoom,
): Promise<Buffer | undefined> {
  const directory = await openLater(path, constants.O_RDONLY | constants.O_DIRECTORY).catch(() => undefined);
  if (directory === undefined) return undefined;
  try {
    await refuseOwnDirectory(path, fstatSync(directory));
    const records = Buffer.allocUnsafeSlow(DIRECTORY_RECORDS_BYTES);
    for (;;) {
      const bytes = await reader.read(directory, records);
      if (bytes < 0) return undefined;
      if (bytes === 0) return listing.end();
      if (!(await addRecords(records.subarray(0, bytes), listing))) return undefined;
      await makeRoom(listing);
    }
  } finally {
    closeSync(directory);
  }
}

const openLater = promisify(open) as (path: HostPath, flags: number) => Promise<number>;

/** Offsets of `d_reclen`, `d_type` and `d_name` in `struct linux_dirent64`, and the types of dirent.h. */
const RECORD_BYTES = 16;
const RECORD_TYPE = 18;
const RECORD_NAME = 19;
const DT_UNKNOWN = 0;
const KINDS: readonly (ListedEntry["kind"] | undefined)[] = Object.assign([], {
  4: "directory",
  8: "file",
  10: "symlink",
});

/** False where the file system does not report the types of entries. */
async function addRecords(records: Buffer, listing: Listing): Promise<boolean> {
  for (let at = 0; at < records.length; ) {
    const type = records[at + RECORD_TYPE]!;
    if (type === DT_UNKNOWN) return false;
    const from = at + RECORD_NAME;
    const to = records.indexOf(0, from);
    if (!isDots(records, from, to)) {
      const added = listing.add(records, from, to, KINDS[type] ?? "other");
      if (added !== undefined) await added;
    }
    at += records[at + RECORD_BYTES]! | (records[at + RECORD_BYTES + 1]! << 8);
  }
  return true;
}

const DOT = 0x2e;

/** Whether the name is `.` or `..`. */
const isDots = (records: Buffer, from: number, to: number): boolean =>
  records[from] === DOT && (to - from === 1 || (to - from === 2 && records[from + 1] === DOT));

/** Collects the entries of one directory as JSON. */
class Listing {
  readonly #path: HostPath;
  readonly #extended: boolean;
  readonly #maxEntries: number;
  readonly #reach: Reach | undefined;
  readonly #encoder = new EntryListEncoder();
  readonly #facts: Readonly<Record<Exclude<ListedEntry["kind"], "symlink">, Buffer>>;

  constructor(path: HostPath, extended: boolean, maxEntries: number, reach: Reach | undefined) {
    this.#path = path;
    this.#reach = reach;
    this.#extended = extended;
    this.#maxEntries = maxEntries;
    const symlink = extended ? { isSymlink: false } : {};
    this.#facts = {
      file: encodeFacts({ isDirectory: false, isFile: true, ...symlink }),
      directory: encodeFacts({ isDirectory: true, isFile: false, ...symlink }),
      other: encodeFacts({ isDirectory: false, isFile: false, ...symlink }),
    };
  }

  /** Adds an entry. Returns a promise only for links, whose target is looked up. @throws RpcError over the limit of entries */
  add(names: Buffer, from: number, to: number, kind: ListedEntry["kind"]): Promise<void> | undefined {
    if (kind === "symlink") return this.#addLink(names, from, to);
    this.#count();
    this.#encoder.add(names, from, to, this.#facts[kind]);
    return undefined;
  }

  /** Entries so far. */
  get count(): number {
    return this.#encoder.count;
  }

  end(): Buffer {
    return this.#encoder.end();
  }

  /** A dangling link is included only in an extended result. */
  async #addLink(names: Buffer, from: number, to: number): Promise<void> {
    const path = joinPath(this.#path, names.subarray(from, to));
    await this.#reach?.(path);
    const target = await stat(path).catch(() => undefined);
    if (target === undefined && !this.#extended) return;
    const facts = { isDirectory: target?.isDirectory() ?? false, isFile: target?.isFile() ?? false };
    this.#count();
    this.#encoder.add(names, from, to, encodeFacts(this.#extended ? { ...facts, isSymlink: true } : facts));
  }

  #count(): void {
    if (this.#encoder.count < this.#maxEntries) return;
    throw invalidRequest(`directory has more entries than the limit of ${this.#maxEntries}`);
  }
}
