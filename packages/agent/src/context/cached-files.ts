import { type AgentFileMetadata, type AgentFiles, isMissing, reasonOf } from "../files/agent-files.js";

/** What a path was found to be. */
export type FoundFile =
  | { kind: "file"; metadata: AgentFileMetadata }
  | { kind: "none" }
  /** It cannot be looked at. */
  | { kind: "failed"; reason: string };

/** Contents by path, each with what the file system said of the file when it was read. */
export type FileMemory = Map<string, { stamp: string; bytes: Uint8Array }>;

/** The files of one turn: read again only where the file system says that they have changed. */
export class CachedFiles {
  readonly #files: AgentFiles;
  readonly #confined: AgentFiles;
  readonly #memory: FileMemory;
  readonly #used = new Set<string>();

  /**
   * `confined`: the same files as commands may read them. A link is read with these: a project chooses where it leads.
   * `memory`: of the turn before; changed.
   */
  constructor(files: AgentFiles, confined: AgentFiles, memory: FileMemory) {
    this.#files = files;
    this.#confined = confined;
    this.#memory = memory;
  }

  /** Directories do not count, links to files do. Never rejects. */
  async find(path: string): Promise<FoundFile> {
    try {
      const metadata = await this.#files.getMetadata(path);
      return metadata.isFile ? { kind: "file", metadata } : { kind: "none" };
    } catch (error) {
      return isMissing(error) ? { kind: "none" } : { kind: "failed", reason: reasonOf(error) };
    }
  }

  /** The content of a file that was found. @throws what the file call throws */
  async read(path: string, { size, modifiedAtMs, isSymlink }: AgentFileMetadata): Promise<Uint8Array> {
    const stamp = `${size} ${modifiedAtMs} ${isSymlink}`;
    this.#used.add(path);
    const known = this.#memory.get(path);
    if (known?.stamp === stamp) return known.bytes;
    const bytes = await (isSymlink ? this.#confined : this.#files).readFile(path, { size });
    this.#memory.set(path, { stamp, bytes });
    return bytes;
  }

  /** Forgets what was not read in this turn. */
  forgetUnused(): void {
    for (const path of this.#memory.keys()) if (!this.#used.has(path)) this.#memory.delete(path);
  }
}
