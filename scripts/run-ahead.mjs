// Runs parts of the `codex` command for the build, as `main.ts` does, and writes at the end either the names of the chunks that
// were loaded, or the code that V8 has compiled.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import v8 from "node:v8";
import { constants, Script } from "node:vm";
import { createChunkLoader } from "../packages/cli/dist/chunks.mjs";

const { mode, file, base, output, runs } = JSON.parse(process.argv[2]);
const parts = dirname(output);
// V8 takes compiled code only where its flags are those that it was compiled with, and commands change flags while they run.
v8.setFlagsFromString = () => {};
const names = [];
const script = file === undefined ? undefined : compile(file);
const value = script?.runInThisContext() ?? {};
const own = typeof value === "function" ? { [`./${runs[0].part}.cjs`]: value } : value;
const packed = base === undefined ? own : { ...compile(base).runInThisContext(), ...own };
const load = createChunkLoader(parts, packed, {
  readChunk(path) {
    names.push(path.slice(parts.length + 1));
    return compile(path).runInThisContext();
  },
  readPack: (path) => compile(path).runInThisContext(),
});
process.on("exit", () => writeFileSync(output, mode === "list" ? JSON.stringify(names) : script.createCachedData()));
for (const { part, name, options, words = [] } of runs) await load(`./${part}.cjs`).run(name, options, words);

function compile(filename) {
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  return new Script(readFileSync(filename, "latin1"), { filename, importModuleDynamically });
}
