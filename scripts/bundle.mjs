// Builds the `codex` command: one entry and a few lazily loaded parts, so that a start reads only what it needs.
import { chmodSync, rmSync, utimesSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
const outdir = path("packages/cli/dist");
for (const part of ["codex.js", "parts"]) rmSync(`${outdir}/${part}`, { recursive: true, force: true });

await build({
  entryPoints: { codex: path("packages/cli/src/main.ts") },
  outdir,
  entryNames: "[name]",
  chunkNames: "parts/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minify: true,
  keepNames: false,
  legalComments: "none",
  // Native and WebAssembly code stays in its packages; the last two are optional speed-ups of ws that are not used.
  external: ["node-pty", "koffi", "@vscode/tree-sitter-wasm", "bufferutil", "utf-8-validate"],
  alias: sourceAliases(),
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
});
chmodSync(`${outdir}/codex.js`, 0o755);
const now = new Date();
utimesSync(`${outdir}/codex.js`, now, now);

/** The command is built from the sources of the packages, so that it does not need them built first. */
function sourceAliases() {
  const packages = ["executor-protocol", "channel", "exec-server", "executor", "orchestrator"];
  return Object.fromEntries([
    ["@codex/channel/websocket", path("packages/channel/src/websocket/index.ts")],
    ["@codex/exec-server/server", path("packages/exec-server/src/server/index.ts")],
    ...packages.map((name) => [`@codex/${name}`, path(`packages/${name}/src/index.ts`)]),
  ]);
}
