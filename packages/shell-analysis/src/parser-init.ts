type TreeSitter = typeof import("@vscode/tree-sitter-wasm");

/** Stored on the module that is initialized, so that every copy of this package in a process finds it. */
const INITIALIZING = Symbol.for("codex.tree-sitter-initializing");

/**
 * Initializes tree-sitter once per process; a failure is tried again. Concurrent initializations replace the
 * WebAssembly memory of existing parsers, which then read every script as empty.
 */
export function initializeTreeSitter({ Parser }: TreeSitter, runtime: string): Promise<void> {
  const parser: typeof Parser & { [INITIALIZING]?: Promise<void> | undefined } = Parser;
  parser[INITIALIZING] ??= Parser.init({ locateFile: () => runtime }).catch((error: unknown) => {
    parser[INITIALIZING] = undefined;
    throw error;
  });
  return parser[INITIALIZING];
}
