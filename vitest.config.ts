import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests run against the TypeScript sources; only tests of the command itself use the built bundle.
const source = (path: string) => fileURLToPath(new URL(`./packages/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@codex\/([^/]+)\/([^/]+)$/, replacement: source("$1/src/$2/index.ts") },
      { find: /^@codex\/([^/]+)$/, replacement: source("$1/src/index.ts") },
    ],
  },
  test: {
    include: ["packages/*/test/**/*.test.ts", "{conformance,examples}/test/**/*.test.mjs"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    // Machines of CI are shared, and some tests watch what a scheduler does: what fails once is run again, and shown as retried.
    retry: process.env.CI === undefined ? 0 : 1,
    // Most tests wait for processes: one worker more than there are processors, not one less.
    maxWorkers: availableParallelism() + 1,
  },
});
