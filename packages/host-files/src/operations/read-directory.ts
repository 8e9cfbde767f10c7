import { closeSync, constants, fstatSync, open } from "node:fs";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import type { ReadDirectoryParams } from "@codex/exec-server-protocol";
import { type HostPath, joinPath } from "@codex/exec-server-protocol";
import type { EntryReader } from "@codex/native";
import { about, invalidRequest } from "../errors.js";
import { DIRECTORY_RECORDS_BYTES } from "../limits.js";
import { refuseOwnDirectory } from "../paths/own-process.js";
import { EntryText, encodeFacts } from "./entry-text.js";
import { type ListedEntry, listBatches } from "./list-directory.js";

/**
 * In directory order, as the JSON of a ReadDirectoryResult: there may be many. Links are told as what they lead to, and
 * left out where they lead nowhere.
 */
export function readDirectory(
  { path, extended }: ReadDirectoryParams,
  maxEntries: number,
  reader?: EntryReader,
): Promise<Buffer> {
  return about(path, async () => {
    const createListing = () => new Listing(path, extended, maxEntries);
    const text = reader?.isReady() ? await readRecords(reader, path, createListing()) : undefined;
    return text ?? (await readBatches(path, createListing()));
  });
}

async function readBatches(path: HostPath, listing: Listing): Promise<Buffer> {
  await refuseOwnDirectory(path, await stat(path));
  for await (const batch of listBatches(path)) {
    for (const { name, kind } of batch) {
      const added = listing.add(name, 0, name.length, kind);
      if (added !== undefined) await added;
    }
  }
  return listing.end();
}

/** Undefined where it does not work: the other way tells why. */
async function readRecords(reader: EntryReader, path: HostPath, listing: Listing): Promise<Buffer | undefined> {
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
    }
  } finally {
    closeSync(directory);
  }
}

const openLater = promisify(open) as (path: HostPath, flags: number) => Promise<number>;

/** Where the members of `struct linux_dirent64` are, and the types of dirent.h. */
const RECORD_BYTES = 16;
const RECORD_TYPE = 18;
const RECORD_NAME = 19;
const DT_UNKNOWN = 0;
const KINDS: readonly (ListedEntry["kind"] | undefined)[] = Object.assign([], {
  4: "directory",
  8: "file",
  10: "symlink",
});

/** False where the file system does not tell what an entry is. */
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

/** The directory itself and the one above it. */
const isDots = (records: Buffer, from: number, to: number): boolean =>
  records[from] === DOT && (to - from === 1 || (to - from === 2 && records[from + 1] === DOT));

/** The entries of one directory on their way into text. */
class Listing {
  readonly #path: HostPath;
  readonly #extended: boolean;
  readonly #maxEntries: number;
  readonly #text = new EntryText();
  readonly #facts: Readonly<Record<Exclude<ListedEntry["kind"], "symlink">, Buffer>>;

  constructor(path: HostPath, extended: boolean, maxEntries: number) {
    this.#path = path;
    this.#extended = extended;
    this.#maxEntries = maxEntries;
    const symlink = extended ? { isSymlink: false } : {};
    this.#facts = {
      file: encodeFacts({ isDirectory: false, isFile: true, ...symlink }),
      directory: encodeFacts({ isDirectory: true, isFile: false, ...symlink }),
      other: encodeFacts({ isDirectory: false, isFile: false, ...symlink }),
    };
  }

  /** What is to be waited for, if anything. @throws RpcError when there are more than may be */
  add(names: Buffer, from: number, to: number, kind: ListedEntry["kind"]): Promise<void> | undefined {
    if (kind === "symlink") return this.#addLink(names, from, to);
    this.#count();
    this.#text.add(names, from, to, this.#facts[kind]);
    return undefined;
  }

  end(): Buffer {
    return this.#text.end();
  }

  /** One that leads nowhere is left out of all but an extended answer. */
  async #addLink(names: Buffer, from: number, to: number): Promise<void> {
    const target = await stat(joinPath(this.#path, names.subarray(from, to))).catch(() => undefined);
    if (target === undefined && !this.#extended) return;
    const facts = { isDirectory: target?.isDirectory() ?? false, isFile: target?.isFile() ?? false };
    this.#count();
    this.#text.add(names, from, to, encodeFacts(this.#extended ? { ...facts, isSymlink: true } : facts));
  }

  #count(): void {
    if (this.#text.count < this.#maxEntries) return;
    throw invalidRequest(`directory has more entries than the limit of ${this.#maxEntries}`);
  }
}
