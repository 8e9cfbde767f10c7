import { readFile } from "node:fs/promises";
import { messageOf } from "@codex/values";
import type { Parser } from "@vscode/tree-sitter-wasm";
import { compileSimply } from "./compile-simply.js";
import { MAX_PARSE_MS, MAX_SCRIPT_BYTES, MAX_SCRIPT_NULS, MAX_SCRIPT_PIPES } from "./limits.js";
import { initializeTreeSitter } from "./parser-init.js";
import { copyTree, type SyntaxTree } from "./syntax-tree.js";

/**
 * Parses scripts with the bash grammar of tree-sitter. The functions that take a parser throw an `Error` if it returns what
 * cannot be a parse of the script.
 */
export interface ShellParser {
  /** Undefined when the script is beyond a bound (bytes, time, size of the tree, NUL characters, pipes); then nothing is known about it. */
  parse(script: string): SyntaxTree | undefined;
}

/** Absolute paths of the WebAssembly files. */
export interface ShellParserFiles {
  readonly runtime: string;
  readonly grammar: string;
}

/** What a parser is loaded with. */
export interface ShellParserOptions {
  /** By default where the package `@vscode/tree-sitter-wasm` has them. */
  readonly files?: ShellParserFiles;
  /** Monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/**
 * Loads the grammar, which takes some 40 ms: meant to be called when the first script occurs. The grammar stays loaded
 * for the life of the process, and need not be closed. Rejects with an `Error` where the grammar is not installed.
 */
export async function loadShellParser(options: ShellParserOptions = {}): Promise<ShellParser> {
  const { files, now = () => performance.now() } = options;
  const { treeSitter, ...located } = loadTreeSitter(files);
  await initializeTreeSitter(treeSitter, located.files.runtime);
  const grammar = await readFile(located.files.grammar);
  const language = await compileSimply(() => treeSitter.Language.load(grammar));
  const parser = new treeSitter.Parser();
  parser.setLanguage(language);
  return { parse: (script) => parseScript(parser, script, now) };
}

/** Loads on the first call, and resolves to the same parser from then on; a failed load is tried again. */
export function createLazyShellParser(load: () => Promise<ShellParser> = loadShellParser): () => Promise<ShellParser> {
  let loading: Promise<ShellParser> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** By a `require` that bundlers do not recognize: it stays in its package, where its WebAssembly files are next to it. */
function loadTreeSitter(given?: ShellParserFiles) {
  try {
    const here = typeof __filename === "string" ? __filename : import.meta.url; // the former in a CommonJS bundle
    const require = process.getBuiltinModule("node:module").createRequire(here);
    const treeSitter = require("@vscode/tree-sitter-wasm") as typeof import("@vscode/tree-sitter-wasm");
    const files = given ?? {
      runtime: require.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter.wasm"),
      grammar: require.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm"),
    };
    return { treeSitter, files };
  } catch (cause) {
    const [reason] = messageOf(cause).split("\n");
    const advice = "a bundle needs the package @vscode/tree-sitter-wasm installed beside it";
    throw new Error(`the bash grammar was not found (${reason}); ${advice}`, { cause });
  }
}

/** Not `||`. */
const PIPE = /(?<!\|)\|(?!\|)/;

function parseScript(parser: Parser, script: string, now: () => number): SyntaxTree | undefined {
  // The grammar takes quadratic time for NUL characters, and asks for the time only after them.
  if (Buffer.byteLength(script) > MAX_SCRIPT_BYTES || script.split("\0").length > MAX_SCRIPT_NULS) return undefined;
  // Each pipe takes memory; with 16,000 the WebAssembly runtime aborts, for good.
  if (script.split(PIPE).length > MAX_SCRIPT_PIPES) return undefined;
  const deadline = now() + MAX_PARSE_MS;
  const tree = parser.parse(script, null, { progressCallback: () => now() > deadline });
  if (tree === null) {
    // Without this the next parse would continue with this script.
    parser.reset();
    return undefined;
  }
  try {
    return copyTree(script, tree);
  } finally {
    tree.delete();
  }
}
