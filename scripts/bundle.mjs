// Builds the `codex` command: one entry and a few lazily loaded parts, so that a start reads only what it needs.
// `--if-stale`: not when nothing has changed since it was built.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
const outdir = path("packages/cli/dist");
const began = new Date();
removeStaleOutputs();
if (process.argv.includes("--if-stale") && !isStale()) process.exit(0);
for (const part of ["codex.js", "parts", "package.json"]) rmSync(`${outdir}/${part}`, { recursive: true, force: true });

const shared = {
  outdir,
  bundle: true,
  platform: "node",
  target: "node20",
  minify: true,
  keepNames: false,
  legalComments: "none",
  // Native and WebAssembly code stays in its packages, and OpenTelemetry is whose SDK is used; the last two are optional
  // speed-ups of ws that are not used.
  external: ["node-pty", "koffi", "@vscode/tree-sitter-wasm", "@opentelemetry/api", "bufferutil", "utf-8-validate"],
  alias: sourceAliases(),
  logLevel: "warning",
};

// Everything that is not waited for: modules that share their parts.
await build({
  ...shared,
  entryPoints: { "parts/program": path("packages/cli/src/program.ts") },
  outExtension: { ".js": ".mjs" },
  chunkNames: "parts/[name]-[hash]",
  splitting: true,
  format: "esm",
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
});

// What programs start and wait for: CommonJS files, which Node loads in less time than modules.
const quick = await quickCommands();
const commonJs = {
  ...shared,
  outExtension: { ".js": ".cjs" },
  format: "cjs",
  define: { "import.meta.url": "__filename", QUICK_COMMANDS: JSON.stringify(quick) },
};
await build({
  ...commonJs,
  entryPoints: { codex: path("packages/cli/src/main.ts") },
  plugins: [{ name: "parts", setup: ({ onResolve }) => onResolve({ filter: /^\.\/program\.js$/ }, toPart) }],
});
await build({
  ...commonJs,
  entryPoints: {
    "parts/executor": path("packages/cli/src/parts/executor.ts"),
    "parts/exec-server": path("packages/cli/src/parts/exec-server.ts"),
    "parts/attach": path("packages/cli/src/parts/attach.ts"),
    "parts/client": path("packages/cli/src/parts/client.ts"),
    "parts/file-helper": path("packages/cli/src/parts/file-helper.ts"),
  },
  supported: { "dynamic-import": false },
  // A module for `require`, which calls what is within; as a script on its own, the function that Node would make of it. So
  // main.ts need not put that around the text, which would be in memory twice.
  banner: {
    js:
      "(this===globalThis?(run)=>run:(run)=>run.call(this,exports,require,module,__filename,__dirname))" +
      "(function(exports,require,module,__filename,__dirname){",
  },
  footer: { js: "});" },
});
for (const part of ["attach", ...Object.values(quick).map(({ part }) => part)])
  requireAscii(`${outdir}/parts/${part}.cjs`);
compileAhead("executor", [{ name: "executor", listen: "stdio" }], '{"type":"list_tools","requestId":"1"}\n');
const hello = '{"id":1,"method":"initialize","params":{"clientName":"build"}}\n';
compileAhead("exec-server", [{ name: "exec-server", listen: "stdio" }], hello);
await withExecutor((executor) =>
  compileAhead("client", [
    { name: "run", words: ["true"] },
    { name: "run", words: ["true"], executor },
    { name: "tools list" },
  ]),
);
renameSync(`${outdir}/codex.cjs`, `${outdir}/codex.js`);
writeFileSync(`${outdir}/package.json`, '{ "type": "commonjs" }\n');
chmodSync(`${outdir}/codex.js`, 0o755);
// What was changed meanwhile may not be in it.
utimesSync(`${outdir}/codex.js`, began, began);

/** A directory is newer than what is missing in it now. */
function isStale() {
  const built = statSync(`${outdir}/codex.js`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(path("packages")).map((name) => path(`packages/${name}/src`));
  const files = sources.filter(existsSync).flatMap((source) => {
    return [source, ...readdirSync(source, { recursive: true }).map((name) => `${source}/${name}`)];
  });
  return [...files, path("scripts/bundle.mjs"), path("pnpm-lock.yaml")].some((file) => statSync(file).mtimeMs >= built);
}

/** Of `main.ts`: built on its own. */
function toPart() {
  return { path: "./parts/program.mjs", external: true };
}

/** `tsc` leaves what it made of a source that is gone by now: it could still be imported, and would be packed. */
function removeStaleOutputs() {
  for (const name of readdirSync(path("packages"))) {
    const dist = path(`packages/${name}/dist`);
    if (!existsSync(dist)) continue;
    for (const file of readdirSync(dist, { recursive: true })) {
      if (!file.endsWith(".map")) continue;
      const map = `${dist}/${file}`;
      const { sources } = JSON.parse(readFileSync(map, "utf8"));
      if (sources.some((source) => existsSync(resolve(dirname(map), source)))) continue;
      for (const output of [map, map.slice(0, -".map".length)]) rmSync(output, { force: true });
    }
  }
}

/** `main.ts` reads a part with a byte for each character. esbuild escapes other characters, but not in regular expressions. */
function requireAscii(file) {
  const found = /.{0,40}[^\0-\x7f]/.exec(readFileSync(file, "utf8"));
  if (found !== null) throw new Error(`${file}: write \\u and its number for the last character of ${found[0]}`);
}

/**
 * Keeps what V8 compiles until the commands have come to their end, beside their file, for the same version of V8.
 * `input` is what a client sends.
 */
function compileAhead(part, commands, input = "") {
  const run = `
    const { readFileSync, writeFileSync } = require("node:fs");
    const module = require("node:module");
    const [file, cache, commands] = process.argv.slice(1);
    const script = new (require("node:vm").Script)(readFileSync(file, "latin1"), { filename: file });
    const loaded = { exports: {} };
    script.runInThisContext()(loaded.exports, module.createRequire(file), loaded, file, ".");
    process.on("exit", () => writeFileSync(cache, script.createCachedData()));
    (async () => {
      for (const { name, options, words } of JSON.parse(commands)) await loaded.exports.run(name, options, words);
    })();`;
  const all = commands.map(({ name, words = [], ...options }) => {
    return { name, words, options: { ...JSON.parse(quick[name].defaults), ...options } };
  });
  const file = `${outdir}/parts/${part}.cjs`;
  const cache = `${file}.${process.versions.v8}-${process.arch}.cache`;
  const args = ["-e", run, file, cache, JSON.stringify(all)];
  execFileSync(process.execPath, args, { input, stdio: ["pipe", "ignore", "inherit"] });
}

/** While an executor listens. @param use gets its address */
async function withExecutor(use) {
  const args = [`${outdir}/codex.cjs`, "executor", "--listen", "ws://127.0.0.1:0"];
  const executor = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [url] = await once(createInterface({ input: executor.stdout }), "line");
    use(url);
  } finally {
    executor.kill();
  }
}

/** The options of the commands that are waited for, as the tree of commands has them. */
async function quickCommands() {
  const contents = `
    import { createProgram } from "./program.js";
    import { describeQuickCommands } from "./quick-commands.js";
    export default describeQuickCommands(createProgram());`;
  const { outputFiles } = await build({
    ...shared,
    stdin: { contents, resolveDir: path("packages/cli/src") },
    outdir: undefined,
    write: false,
    packages: "external",
    alias: undefined,
    format: "esm",
    external: ["../commands/*"],
  });
  const file = path("packages/cli/dist/quick-commands.mjs");
  writeFileSync(file, outputFiles[0].contents);
  try {
    return (await import(file)).default;
  } finally {
    rmSync(file);
  }
}

/** The command is built from the sources of the packages, so that it does not need them built first. */
function sourceAliases() {
  return Object.fromEntries(
    readdirSync(path("packages")).flatMap((name) => {
      const { exports } = JSON.parse(readFileSync(path(`packages/${name}/package.json`), "utf8"));
      // The longer ones first: an alias is also that of what lies below it.
      const doors = Object.keys(exports).filter((door) => existsSync(path(`packages/${name}/src/${door}/index.ts`)));
      return doors
        .reverse()
        .map((door) => [`@codex/${name}${door.slice(1)}`, path(`packages/${name}/src/${door}/index.ts`)]);
    }),
  );
}
