// The code of the exec gate's threads as a text, for what is not files beside each other: bundles, and sources under test.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
/** What the threads import. */
const PACKAGES = ["exec-gate", "values"];
const PLACE = path("packages/native/src/gate/thread-code.ts");

/** A module that replaces `thread-code.ts`. */
async function renderThreadCode() {
  const { outputFiles } = await build({
    entryPoints: [path("packages/native/src/gate/thread.ts")],
    bundle: true,
    write: false,
    minify: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    legalComments: "none",
    // The sources: the packages may not be built yet.
    alias: Object.fromEntries(PACKAGES.map((name) => [`@codex/${name}`, path(`packages/${name}/src/index.ts`)])),
    // A thread that is started from a text has no place of its own.
    banner: { js: 'const gateBase = require("node:worker_threads").workerData.base;' },
    define: { __filename: "gateBase", "import.meta.url": "gateBase" },
    external: ["koffi"],
  });
  return `export const THREAD_CODE = { code: ${JSON.stringify(outputFiles[0].text)} };\n`;
}

/** For esbuild. */
export const gateThread = {
  name: "gate-thread",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]gate[\\/]thread-code\.[jt]s$/ }, async () => ({ contents: await renderThreadCode() }));
  },
};

/** For Vite. */
export const gateThreadOfSources = () => ({
  name: "gate-thread",
  load: (id) => (id === PLACE ? renderThreadCode() : undefined),
});
