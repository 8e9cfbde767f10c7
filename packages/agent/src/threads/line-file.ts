import { type FileHandle, open } from "node:fs/promises";

/** A file to which whole lines are appended. Calls of `write` must not overlap. */
export interface LineFile {
  /** Appends a line with its line feed. A failed write leaves nothing of it, if the file can be shortened. */
  write(line: string): Promise<void>;
  /** Flushes written lines to the disk. After a failure all further calls fail: the system may have dropped what it could not write. */
  sync(): Promise<void>;
  close(): Promise<void>;
  /** Bytes of the file. */
  readonly size: number;
}

/** Opens a file, or creates it with mode 600. An unterminated last line is terminated before the next one. */
export async function openLines(path: string, openFile = open): Promise<LineFile> {
  const handle = await openFile(path, "a+", 0o600);
  let { size } = await handle.stat();
  let isTorn = size > 0 && (await readByte(handle, size - 1)) !== LINE_FEED;
  let syncing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return {
    get size() {
      return size;
    },
    async write(line) {
      const bytes = Buffer.from(isTorn ? `\n${line}` : line);
      try {
        await handle.appendFile(bytes);
      } catch (error) {
        const isShortened = await handle.truncate(size).then(
          () => true,
          () => false,
        );
        isTorn ||= !isShortened;
        throw error;
      }
      size += bytes.length;
      isTorn = false;
    },
    sync() {
      // Lines written while one flush runs share the next.
      next ??= syncing.then(() => {
        next = undefined;
        syncing = handle.datasync().catch(ignoreUnsupported);
        return syncing;
      });
      return next;
    },
    async close() {
      await handle.close();
    },
  };
}

const LINE_FEED = 10;

async function readByte(handle: FileHandle, position: number): Promise<number | undefined> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, position);
  return bytesRead === 1 ? buffer[0] : undefined;
}

/** Some network file systems cannot flush. */
function ignoreUnsupported(error: NodeJS.ErrnoException): void {
  if (!UNSUPPORTED.has(error.code ?? "")) throw error;
}

const UNSUPPORTED: ReadonlySet<string> = new Set(["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);
