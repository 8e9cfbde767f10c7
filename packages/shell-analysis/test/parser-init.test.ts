import { createRequire } from "node:module";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { initializeTreeSitter } from "../src/parser-init.js";

type TreeSitter = typeof import("@vscode/tree-sitter-wasm");

const { resolve, cache } = createRequire(new URL("../src/parser.ts", import.meta.url));
const require = createRequire(import.meta.url);
const MODULE = resolve("@vscode/tree-sitter-wasm");
const RUNTIME = resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter.wasm");
const GRAMMAR = resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm");

/** A copy of its own, as a fresh process has it. */
function loadFresh(): TreeSitter {
  delete cache[MODULE];
  return require(MODULE) as TreeSitter; // its own types
}

async function createParser(treeSitter: TreeSitter) {
  await initializeTreeSitter(treeSitter, RUNTIME);
  const parser = new treeSitter.Parser();
  parser.setLanguage(await treeSitter.Language.load(GRAMMAR));
  return parser;
}

it("initializes once, however many ask at however close a time", async () => {
  for (const turns of [0, 1, 2, 3, 5, 8, 13, 21]) {
    const treeSitter = loadFresh();
    const first = createParser(treeSitter);
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    const parsers = [await createParser(treeSitter), await first];
    const read = parsers.map((parser) => parser.parse("rm -rf x")?.rootNode.toString());
    expect(read, `${turns} turns apart`).toEqual(Array(2).fill(expect.stringContaining("command_name")));
  }
});

it("tries again after a failure", async () => {
  const treeSitter = loadFresh();
  await expect(initializeTreeSitter(treeSitter, "/nowhere/tree-sitter.wasm")).rejects.toThrow();
  expect((await createParser(treeSitter)).parse("ls")?.rootNode.childCount).toBe(1);
});
