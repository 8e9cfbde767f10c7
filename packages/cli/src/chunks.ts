import module from "node:module";
import { join } from "node:path";
import { createRandomSource, type RandomSource } from "./random.js";

/** A file of the build as a function, as Node would create it from a CommonJS module. */
export type Chunk = (
  exports: object,
  require: ((name: string) => unknown) & Partial<ChunkGlobals>,
  module: { exports: object },
  filename: string,
  dirname: string,
) => void;

/** What chunks use instead of parts of Node, as rewritten by the build; members of their `require`. */
interface ChunkGlobals {
  /** Compiled code cannot use `import()`: V8 stores no module loader with it. */
  import(url: string): Promise<unknown>;
  readonly random: RandomSource;
}

/** Keyed by the name with which they require each other, such as `./chunk-ABC.cjs`; a string is the pack file that contains the chunk. */
export type Chunks = Readonly<Record<string, Chunk | string>>;

/** Reads the files of the build. */
export interface ChunkFiles {
  readChunk(file: string): Chunk;
  readPack(file: string): Chunks;
}

/**
 * A `require` for chunks, each evaluated once: from `packed` if that contains it, else from its file. So a class that two
 * chunks use is the same one, wherever they are loaded from.
 */
export function createChunkLoader(
  directory: string,
  packed: Chunks,
  { readChunk, readPack }: ChunkFiles,
): (name: string) => unknown {
  const packs = new Map<string, Chunks>();
  const loaded = new Map<string, { exports: object }>();
  const requireOther = module.createRequire(join(directory, "."));
  const find = (name: string): Chunk | undefined => {
    const found = packed[name];
    if (typeof found !== "string") return found;
    const pack = packs.get(found) ?? readPack(join(directory, found));
    packs.set(found, pack);
    return pack[name] as Chunk; // a pack that is named has chunks only
  };
  const load = (name: string): unknown => {
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    if (!name.startsWith("./")) return requireOther(name);
    const file = join(directory, name);
    const chunk = find(name) ?? readChunk(file);
    const created = { exports: {} };
    loaded.set(name, created);
    chunk.call(created.exports, created.exports, requireChunk, created, file, directory);
    return created.exports;
  };
  const globals: ChunkGlobals = { import: (url) => import(url), random: createRandomSource() };
  const requireChunk = Object.assign(load, globals);
  return load;
}
