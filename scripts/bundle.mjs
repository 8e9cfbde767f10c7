// Builds the `codex` command: one entry and a few lazily loaded parts, so that a start reads only what it needs.
// `--if-stale`: only if something has changed since the last build.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { lockBuild } from "./build-lock.mjs";
import {
  buildChunks,
  compileAhead,
  lightWebSockets,
  listChunks,
  ownZodForMcp,
  requireAscii,
  WRAPPER,
  writePack,
} from "./chunks.mjs";
import { directImports } from "./direct-imports.mjs";
import { gateThread } from "./gate-thread.mjs";
import { withModel } from "./model-stub.mjs";
import { buildViewPage } from "./view-page.mjs";

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
const outdir = path("packages/cli/dist");
const parts = `${outdir}/parts`;
await lockBuild(path(".build-lock"));
// What is run for the build talks to servers of this host, with settings of its own.
for (const name of Object.keys(process.env)) if (/^CODEX_|_PROXY$/i.test(name)) delete process.env[name];
const began = new Date();
const SCRIPTS = [
  "build-lock.mjs",
  "bundle.mjs",
  "chunks.mjs",
  "direct-imports.mjs",
  "gate-thread.mjs",
  "model-stub.mjs",
  "run-ahead.mjs",
  "view-page.mjs",
];
removeStaleOutputs();
if (process.argv.includes("--if-stale") && !isStale()) process.exit(0);
for (const part of ["codex.js", "parts", "packs.json", "package.json"])
  rmSync(`${outdir}/${part}`, { recursive: true, force: true });

await buildViewPage(packageIndexes());
// Where only what the command needs is installed, nothing else builds it.
const hasCompiler = existsSync(path("node_modules/.bin/tsc"));

const shared = {
  outdir,
  bundle: true,
  platform: "node",
  target: "node20",
  minify: true,
  keepNames: false,
  legalComments: "none",
  // Native and WebAssembly code stays in its packages, and OpenTelemetry comes from the program that uses its SDK; the last
  // two are optional native add-ons of ws that are not used.
  external: [
    "@codex/view",
    "node-pty",
    "koffi",
    "@vscode/tree-sitter-wasm",
    "@opentelemetry/api",
    "@resvg/resvg-js",
    "bufferutil",
    "utf-8-validate",
  ],
  alias: packageIndexes(),
  plugins: [gateThread, directImports(packageIndexes()), lightWebSockets, ownZodForMcp],
  logLevel: "warning",
};

if (!hasCompiler) {
  await build({
    ...shared,
    outdir: path("packages/view/dist"),
    entryPoints: {
      index: path("packages/view/src/index.ts"),
      "server/worker": path("packages/view/src/server/worker.ts"),
    },
    format: "esm",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
}

/** Leaves imports of parts to Node: they are files beside the importing one. Other imports of the commands it does not have are never run. */
const besideParts = {
  name: "beside-parts",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/parts\/[\w-]+\.js$/ }, ({ path: name }) => ({
      path: `./${name.slice("./parts/".length, -".js".length)}.cjs`,
      external: true,
    }));
    onResolve({ filter: /^(?:\.\.\/commands\/|@codex\/servers\/(?:attach|exec-server)$)/ }, ({ path: name }) => ({
      path: name,
      external: true,
    }));
  },
};

// Entry points that share modules: the tree of all commands, and the commands whose start-up time matters most.
const CHUNKED = ["run", "tools-list", "exec", "mcp-server"];
const chunks = await buildChunks(
  {
    ...shared,
    entryPoints: {
      program: path("packages/cli/src/program.ts"),
      ...Object.fromEntries(CHUNKED.map((name) => [name, path(`packages/cli/src/parts/${name}.ts`)])),
    },
  },
  parts,
);

// The entry, and the parts that are one file each: servers, which are also copied to other hosts, and helpers.
const quick = await quickCommands();
const commonJs = {
  ...shared,
  outExtension: { ".js": ".cjs" },
  format: "cjs",
  define: { "import.meta.url": "__filename", QUICK_COMMANDS: JSON.stringify(quick) },
};
// A script for sh and for Node, to which the second line is a string and a comment. Node would take /dev/null for an output that
// is closed, and nothing would report what is lost.
const START = `":" //; { true 3>&1; } 2>/dev/null || exec 1</dev/null; exec node -- "$0" "$@"`;
await build({ ...commonJs, entryPoints: { codex: path("packages/cli/src/main.ts") }, banner: { js: START } });
const ALONE = ["executor", "exec-server", "attach", "file-helper"];
await build({
  ...commonJs,
  entryPoints: Object.fromEntries(ALONE.map((name) => [`parts/${name}`, path(`packages/cli/src/parts/${name}.ts`)])),
  supported: { "dynamic-import": false },
  banner: { js: WRAPPER.banner },
  footer: { js: WRAPPER.footer },
});
// The tree of commands of the copies on other hosts, beside those parts.
await build({
  ...commonJs,
  entryPoints: { "parts/server-program": path("packages/cli/src/server-program.ts") },
  supported: { "dynamic-import": false },
  plugins: [...shared.plugins, besideParts],
});
for (const part of ["attach", "executor", "exec-server"]) requireAscii(`${parts}/${part}.cjs`);

const loader = `${outdir}/chunks.mjs`;
await build({
  ...shared,
  entryPoints: { chunks: path("packages/cli/src/chunks.ts") },
  format: "esm",
  outExtension: { ".js": ".mjs" },
});
await compileAhead(`${parts}/executor.cjs`, {
  runs: [runOf("executor", { listen: "stdio" })],
  input: '{"type":"list_tools","requestId":"1"}\n',
});
await compileAhead(`${parts}/exec-server.cjs`, {
  runs: [runOf("exec-server", { listen: "stdio" })],
  input: '{"id":1,"method":"initialize","params":{"clientName":"build"}}\n',
});
/** What an MCP host sends first, and what it sends next. */
const [INITIALIZE, LIST_TOOLS] = [
  {
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "build", version: "1" } },
  },
  { method: "tools/list" },
].map((request, id) => `${JSON.stringify({ jsonrpc: "2.0", id, ...request })}\n`);
const packs = {};
const homes = [];
process.once("exit", () => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});
await withExecutor(async (executor) => {
  const [plain, configured] = [openHome(), openHome(executor)];
  const run = runOf("run", {}, ["true"]);
  await addPack("run", run, plain, [
    { name: "configured", run, env: configured },
    { name: "environment", run: runOf("run", { environment: "build" }, ["true"]), env: configured },
  ]);
  const list = runOf("tools list");
  await addPack("tools-list", list, plain, [{ name: "configured", run: list, env: configured }]);
  await addPack("run-remote", runOf("run", { executor }, ["true"]), plain);
  await withModel(async (config) => {
    const [alone, several] = [openHome(undefined, config), openHome(executor, config)];
    const exec = runOf("exec", { cd: alone.CODEX_HOME, skipGitRepoCheck: true, stdin: false }, ["Do nothing."]);
    await addPack("exec", exec, alone, [{ name: "configured", run: exec, env: several }]);
  });
});
const serve = runOf("mcp-server");
const home = openHome();
// Without a first request nothing but what answers it is loaded.
await addPack("mcp-server", { ...serve, input: INITIALIZE, listed: "" }, home, [
  { name: "initialized", run: { ...serve, input: INITIALIZE }, env: home },
  { name: "opened", run: { ...serve, input: INITIALIZE + LIST_TOOLS }, env: home },
]);
rmSync(loader);
// For the tests: the chunks that a command loads.
writeFileSync(`${outdir}/packs.json`, JSON.stringify(packs, null, 2));
renameSync(`${outdir}/codex.cjs`, `${outdir}/codex.js`);
writeFileSync(`${outdir}/package.json`, '{ "type": "commonjs" }\n');
chmodSync(`${outdir}/codex.js`, 0o755);
// Changes made during the build may not be in it.
utimesSync(`${outdir}/codex.js`, began, began);

/**
 * Adds the pack of a command.
 * @param run its `input` is what it reads from stdin, `listed` that with which it loads no more than the chunks of this pack
 * @param further `{ name, run, env }`: runs that need more, which is in a pack of its own
 */
async function addPack(name, run, env, further = []) {
  const wanted = [{ pack: name, run, env }, ...further.map((each) => ({ ...each, pack: `${name}-${each.name}` }))];
  const packOf = new Map();
  for (const each of wanted) {
    const { input, listed = input } = each.run;
    const all = await listChunks(parts, { runs: [each.run], env: each.env, input: listed });
    each.names = all.filter((chunk) => !packOf.has(chunk));
    for (const chunk of each.names) packOf.set(chunk, `${each.pack}.pack.cjs`);
  }
  const [own, ...others] = wanted;
  const elsewhere = Object.fromEntries([...packOf].filter(([chunk]) => !own.names.includes(chunk)));
  for (const { pack, names } of wanted)
    packs[pack] = writePack(`${parts}/${pack}.pack.cjs`, chunks, names, pack === name ? elsewhere : {});
  const base = `${parts}/${name}.pack.cjs`;
  await compileAhead(base, { runs: [run], env, input: run.input });
  for (const each of others)
    await compileAhead(`${parts}/${each.pack}.pack.cjs`, {
      runs: [each.run],
      env: each.env,
      input: each.run.input,
      base,
    });
}

/** An environment with a `CODEX_HOME` of its own. @param url of the configured environment `build` */
function openHome(url, config = "") {
  const home = mkdtempSync(join(tmpdir(), "codex-build-"));
  homes.push(home);
  writeFileSync(join(home, "config.toml"), config);
  if (url !== undefined) {
    const other = `[[environments]]\nid = "other"\nprogram = "true"\nargs = ["--"]\nenv = { A = "1" }\n`;
    writeFileSync(join(home, "environments.toml"), `[[environments]]\nid = "build"\nurl = "${url}"\n\n${other}`);
  }
  return { ...process.env, CODEX_HOME: home };
}

/** The arguments with which `main.ts` would call the part of a command. */
function runOf(name, options = {}, words = []) {
  return { part: quick[name].part, name, options: { ...JSON.parse(quick[name].defaults), ...options }, words };
}

/** The time of a directory shows that files were removed from it. */
function isStale() {
  const built = statSync(`${outdir}/codex.js`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(path("packages")).map((name) => path(`packages/${name}/src`));
  sources.push(path("packages/view/page"));
  const files = sources.filter(existsSync).flatMap((source) => {
    return [source, ...readdirSync(source, { recursive: true }).map((name) => `${source}/${name}`)];
  });
  return [...files, ...SCRIPTS.map((name) => path(`scripts/${name}`)), path("pnpm-lock.yaml")].some(
    (file) => statSync(file).mtimeMs >= built,
  );
}

/** `tsc` keeps the output of deleted sources: it could still be imported, and would be packed. git keeps what was built of a deleted package. */
function removeStaleOutputs() {
  for (const name of readdirSync(path("packages"))) {
    const dist = path(`packages/${name}/dist`);
    if (!existsSync(path(`packages/${name}/package.json`))) {
      for (const built of [dist, path(`packages/${name}/node_modules`)])
        rmSync(built, { recursive: true, force: true });
      if (readdirSync(path(`packages/${name}`)).length === 0) rmdirSync(path(`packages/${name}`));
    }
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

/** Runs `use` while an executor listens. @param use receives its address */
async function withExecutor(use) {
  const args = [`${outdir}/codex.cjs`, "executor", "--listen", "ws://127.0.0.1:0"];
  const executor = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [url] = await once(createInterface({ input: executor.stdout }), "line");
    await use(url);
  } finally {
    executor.kill();
  }
}

/** The options of the commands in `CHUNKED`, as the tree of commands defines them. */
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
    format: "esm",
    // Of the packages of this workspace the sources, as they may not be built yet.
    external: ["../commands/*", "commander"],
  });
  const file = path("packages/cli/dist/quick-commands.mjs");
  writeFileSync(file, outputFiles[0].contents);
  try {
    return (await import(file)).default;
  } finally {
    rmSync(file);
  }
}

/** Aliases to the sources of the packages, so that the command can be built before they are. */
function packageIndexes() {
  return Object.fromEntries(
    readdirSync(path("packages")).flatMap((name) => {
      if (!existsSync(path(`packages/${name}/package.json`))) return [];
      const { exports } = JSON.parse(readFileSync(path(`packages/${name}/package.json`), "utf8"));
      // The longer ones first, since an alias also matches the paths below it.
      const doors = Object.keys(exports).filter((door) => existsSync(path(`packages/${name}/src/${door}/index.ts`)));
      // The view runs a thread from a file of its own, and serves files: it stays a package.
      return doors
        .filter((door) => name !== "view" || door !== ".")
        .reverse()
        .map((door) => [`@codex/${name}${door.slice(1)}`, path(`packages/${name}/src/${door}/index.ts`)]);
    }),
  );
}
