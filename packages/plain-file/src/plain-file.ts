import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Why a path that exists was not read; the message names kind, or size and limit, and not the path. */
export class PlainFileError extends Error {
  override name = "PlainFileError";
  /** `not_a_file`: a directory, FIFO, socket or device. */
  readonly code: "not_a_file" | "too_large";

  constructor(code: PlainFileError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** How much of a file is accepted. */
export interface ReadLimit {
  /** Bytes; a longer file is refused. */
  maxBytes: number;
}

/**
 * Opens a regular file for reading, and never waits for the other end of a FIFO or a device. A symlink is followed. The
 * caller closes the handle.
 * @throws PlainFileError for anything but a regular file; the error of the file system when it cannot be opened
 */
export async function openPlainFile(path: string): Promise<FileHandle> {
  const file = await open(path, FLAGS);
  try {
    checkKind(await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** As `openPlainFile`, at once, as a descriptor that the caller closes. */
export function openPlainFileSync(path: string): number {
  const fd = openSync(path, FLAGS);
  try {
    checkKind(fstatSync(fd));
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Reads a whole regular file. @throws as `openPlainFile`, and PlainFileError for one that is longer than `maxBytes` */
export async function readPlainFile(path: string, { maxBytes }: ReadLimit): Promise<Buffer> {
  const file = await openPlainFile(path);
  try {
    const pieces = new Pieces((await file.stat()).size, maxBytes);
    for (;;) {
      const piece = pieces.next();
      const { bytesRead } = await file.read(piece);
      if (!pieces.add(piece, bytesRead)) return pieces.join();
    }
  } finally {
    await file.close();
  }
}

/**
 * Reads what a person names for a command, at once: also a pipe, such as that of `<(…)`, which it waits for.
 * @throws PlainFileError `too_large` also for a device that never ends; the error of the file system when it cannot be read
 */
export function readNamedFileSync(path: string, { maxBytes }: ReadLimit): Buffer {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOCTTY ?? 0));
  try {
    return readPieces(fd, maxBytes);
  } finally {
    closeSync(fd);
  }
}

/** As `readPlainFile`, at once. */
export function readPlainFileSync(path: string, { maxBytes }: ReadLimit): Buffer {
  const fd = openPlainFileSync(path);
  try {
    return readPieces(fd, maxBytes);
  } finally {
    closeSync(fd);
  }
}

function readPieces(fd: number, maxBytes: number): Buffer {
  const pieces = new Pieces(fstatSync(fd).size, maxBytes);
  for (;;) {
    const piece = pieces.next();
    if (!pieces.add(piece, readSync(fd, piece))) return pieces.join();
  }
}

/** With these an open does not wait on a FIFO, and a terminal does not become the controlling one. Windows has neither. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

function checkKind(info: Stats): void {
  if (!info.isFile()) throw new PlainFileError("not_a_file", `it is ${describeKind(info)}, not a regular file`);
}

function describeKind(info: Stats): string {
  if (info.isDirectory()) return "a directory";
  if (info.isFIFO()) return "a FIFO";
  return info.isSocket() ? "a socket" : "a device";
}

/** What has been read: the size of a file is only a guess, since it may grow, and files of /proc have none. */
class Pieces {
  readonly #maxBytes: number;
  readonly #pieces: Buffer[] = [];
  readonly #expected: number;
  #bytes = 0;

  constructor(size: number, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#expected = size;
    this.#check(size);
  }

  /** One byte more than is left, so that the end is seen. */
  next(): Buffer {
    const left = Math.max(this.#expected - this.#bytes, MIN_PIECE_BYTES) + 1;
    return Buffer.allocUnsafe(Math.min(left, this.#maxBytes - this.#bytes + 1));
  }

  /** False at the end. */
  add(piece: Buffer, bytes: number): boolean {
    if (bytes === 0) return false;
    this.#bytes += bytes;
    this.#check(this.#bytes);
    this.#pieces.push(piece.subarray(0, bytes));
    return true;
  }

  join(): Buffer {
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
  }

  #check(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    const size = bytes === this.#expected ? `${bytes} bytes` : "more";
    throw new PlainFileError("too_large", `the file has ${size}, the limit is ${this.#maxBytes} bytes`);
  }
}

/** Smallest read, bytes. */
const MIN_PIECE_BYTES = 4096;
