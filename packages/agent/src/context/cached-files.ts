import { type AgentFileMetadata, type AgentFiles, isMissing } from "@codex/file-tools";
import { messageOf } from "@codex/values";

/** Result of a file lookup. */
export type FoundFile =
  | { kind: "file"; metadata: AgentFileMetadata }
  | { kind: "none" }
  /** Its metadata cannot be read. */
  | { kind: "failed"; reason: string };

/** Contents by path, each with a stamp of the file's metadata when it was read. */
export type FileMemory = Map<string, { stamp: string; bytes: Uint8Array }>;

/** Reads files for one turn; unchanged files come from the cache of the previous turn. */
export class CachedFiles {
  readonly #files: AgentFiles;
  readonly #confined: AgentFiles;
  readonly #memory: FileMemory;
  readonly #used = new Set<string>();

  /**
   * @param confined the same files within the command sandbox; symlinks are read through it, since a project controls their
   * targets
   * @param memory cache of the previous turn; modified
   */
  constructor(files: AgentFiles, confined: AgentFiles, memory: FileMemory) {
    this.#files = files;
    this.#confined = confined;
    this.#memory = memory;
  }

  /** Finds a regular file, following symlinks. Never rejects. */
  async find(path: string): Promise<FoundFile> {
    try {
      const metadata = await this.#files.getMetadata(path);
      return metadata.isFile ? { kind: "file", metadata } : { kind: "none" };
    } catch (error) {
      return isMissing(error) ? { kind: "none" } : { kind: "failed", reason: messageOf(error) };
    }
  }

  /** Reads a file returned by `find`. @throws any error of the file call */
  async read(path: string, { size, modifiedAtMs, isSymlink }: AgentFileMetadata): Promise<Uint8Array> {
    const stamp = `${size} ${modifiedAtMs} ${isSymlink}`;
    this.#used.add(path);
    const known = this.#memory.get(path);
    if (known?.stamp === stamp) return known.bytes;
    const bytes = await (isSymlink ? this.#confined : this.#files).readFile(path, { size });
    this.#memory.set(path, { stamp, bytes });
    return bytes;
  }

  /** Removes entries that were not read in this turn. */
  forgetUnused(): void {
    for (const path of this.#memory.keys()) if (!this.#used.has(path)) this.#memory.delete(path);
  }
}
