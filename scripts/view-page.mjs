// Builds the page of `@codex/view`: its own code, and beside it the files of xterm and of the player as they are published.
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (relative) => fileURLToPath(new URL(`../packages/view/${relative}`, import.meta.url));

/** Modules that browsers load from the server of the view, by their name in the sources. */
const VENDORED = {
  "@xterm/xterm": "xterm.js",
  "@xterm/addon-fit": "addon-fit.js",
  "@xterm/addon-search": "addon-search.js",
  "@xterm/addon-serialize": "addon-serialize.js",
};

/**
 * @param alias where the packages are that the page imports
 * @returns bytes of the page's own scripts
 */
export async function buildViewPage(alias = {}) {
  const outdir = path("dist/page");
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const { metafile } = await build({
    entryPoints: { page: path("page/main.ts"), replay: path("page/replay/main.ts") },
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: "[name]-[hash]",
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
    alias,
    plugins: [vendored],
  });
  for (const name of ["index.html", "replay.html", "page.css"]) copyFileSync(path(`page/${name}`), `${outdir}/${name}`);
  copyVendored(outdir);
  return Object.values(metafile.outputs).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Leaves these imports to the browser. */
const vendored = {
  name: "vendored",
  setup({ onResolve }) {
    onResolve({ filter: /^@xterm\// }, ({ path: name }) => ({ path: `./${VENDORED[name]}`, external: true }));
  },
};

function copyVendored(outdir) {
  const require = createRequire(import.meta.url);
  const folderOf = (name) => require.resolve(`${name}/package.json`).slice(0, -"package.json".length);
  for (const [name, file] of Object.entries(VENDORED)) {
    const folder = folderOf(name);
    copyFileSync(`${folder}lib/${name.slice("@xterm/".length)}.mjs`, `${outdir}/${file}`);
  }
  copyFileSync(`${folderOf("@xterm/xterm")}css/xterm.css`, `${outdir}/xterm.css`);
  copyFileSync(`${folderOf("@xterm/xterm")}LICENSE`, `${outdir}/xterm.LICENSE`);
  const player = `${path("../../node_modules/asciinema-player")}/`;
  copyFileSync(`${player}dist/bundle/asciinema-player.min.js`, `${outdir}/asciinema-player.js`);
  copyFileSync(`${player}dist/bundle/asciinema-player.css`, `${outdir}/asciinema-player.css`);
  copyFileSync(`${player}LICENSE`, `${outdir}/asciinema-player.LICENSE`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildViewPage();
