import { type SerializedConfig, TestRunner } from "vitest";

/** Of Vite's module runner, what this file uses. */
interface EvaluatedModules {
  readonly idToModuleMap: ReadonlyMap<string, { readonly file: string; readonly evaluated: boolean }>;
  invalidateModule(node: unknown): void;
}

/**
 * Runs test files one after the other in one process. Modules of sources and packages are evaluated once, as they hold no state;
 * those of tests are evaluated for each file, as they register hooks and hold what is to be closed.
 * @public vitest.config.ts names this file
 */
export default class SharedProcessRunner extends TestRunner {
  readonly #modules: EvaluatedModules;

  constructor(config: SerializedConfig) {
    super(config);
    // Vitest declares it private, and has no other access to the modules of a worker.
    this.#modules = (
      this as unknown as { workerState: { evaluatedModules: EvaluatedModules } }
    ).workerState.evaluatedModules;
  }

  override importFile(path: string, source: "collect" | "setup"): unknown {
    if (source === "collect") {
      for (const node of this.#modules.idToModuleMap.values())
        if (/[\\/]test[\\/]/.test(node.file) && !/[\\/]node_modules[\\/]/.test(node.file))
          this.#modules.invalidateModule(node);
    }
    return super.importFile(path, source);
  }
}
