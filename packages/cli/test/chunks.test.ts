import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Chunk, type ChunkFiles, createChunkLoader } from "../src/chunks.js";

const SHARED = "./shared.cjs";

const shared: Chunk = (_exports, _require, module) => {
  module.exports = { Shared: class Shared {} };
};
const user: Chunk = (exports, require) => Object.assign(exports, require(SHARED));

const FILES: ChunkFiles = { readChunk: () => user, readPack: () => ({}) };

describe("a loader of chunks", () => {
  it("gives chunks of the pack and of files the same instance of what they share", () => {
    const read: string[] = [];
    const load = createChunkLoader(
      tmpdir(),
      { [SHARED]: shared, "./a.cjs": user },
      {
        ...FILES,
        readChunk(file) {
          read.push(basename(file));
          return user;
        },
      },
    );
    expect(load("./b.cjs")).toEqual(load("./a.cjs"));
    expect((load("./b.cjs") as { Shared: unknown }).Shared).toBe((load(SHARED) as { Shared: unknown }).Shared);
    expect(load("./b.cjs")).toBe(load("./b.cjs"));
    expect(read).toEqual(["b.cjs"]);
  });

  it("leaves everything else to Node, and says to a chunk where it lies", () => {
    const placed: unknown[] = [];
    const chunk: Chunk = (_exports, require, _module, filename, dirname) => {
      placed.push(require("node:path"), filename, dirname);
    };
    createChunkLoader(tmpdir(), { "./a.cjs": chunk }, FILES)("./a.cjs");
    expect(placed).toEqual([process.getBuiltinModule("node:path"), join(tmpdir(), "a.cjs"), tmpdir()]);
  });

  it("reads another pack when the first chunk of it is needed, and once", () => {
    const read: string[] = [];
    const load = createChunkLoader(
      tmpdir(),
      { "./a.cjs": user, [SHARED]: "other.cjs", "./b.cjs": "other.cjs" },
      {
        ...FILES,
        readPack(file) {
          read.push(basename(file));
          return { [SHARED]: shared, "./b.cjs": user };
        },
      },
    );
    expect(read).toEqual([]);
    expect(load("./a.cjs")).toEqual(load("./b.cjs"));
    expect(read).toEqual(["other.cjs"]);
  });
});
