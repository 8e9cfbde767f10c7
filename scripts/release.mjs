// Packs everything that users install into one file for npm: see docs/decisions/release.md. Packages must be built.
// `release.mjs DIRECTORY`: where the file, its checksum and the list of its contents go. Prints the path of the file.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { gateThread } from "./gate-thread.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMMAND = "packages/cli/dist/codex.js";

/** Schemas of users and of this library are the same ones. */
const FROM_REGISTRY = ["zod"];
/** Native and WebAssembly code, which a bundle of the user's program looks for beside itself: linked from there, as our own packages are. */
const LINKED = ["@vscode/tree-sitter-wasm", "koffi", "node-pty"];
/** npm takes a linked directory for one that is worked on, and would install what that needs. */
const WITHOUT_DEPENDENCIES = {
  scripts: undefined,
  dependencies: undefined,
  devDependencies: undefined,
  optionalDependencies: undefined,
};
/** Becomes part of our own modules, which need little of it. */
const INLINED = /^(hono|@hono\/.*|@modelcontextprotocol\/node|@noble\/.*|@bufbuild\/.*)$/;

/** What is not needed to run: maps to sources, and pages; and of some packages what is for other systems, languages or module formats. */
const LEFT_OUT = [/\.map$/, /\.md$/i, /\.tsbuildinfo$/];
const LEFT_OUT_OF = {
  koffi: /^(vendor|lib|doc)\/|^src\/.*(?<!\.cjs)$/,
  "node-pty": /^(prebuilds\/win32-|third_party\/|src\/|scripts\/|binding\.gyp$)/,
  "@modelcontextprotocol/client": /\.d?\.?cjs$|\.d\.cts$/,
  "@modelcontextprotocol/core": /\.cjs$|\.d\.cts$/,
  "@modelcontextprotocol/server": /\.cjs$|\.d\.cts$/,
  "@vscode/tree-sitter-wasm": /^wasm\/tree-sitter-.*\.wasm$(?<!tree-sitter-bash\.wasm)/,
};
/** Of our own packages also the modules, of which few files are made, the code that V8 has compiled for this host, and what only it can use. */
const LEFT_OUT_OF_OURS = [
  ...LEFT_OUT,
  /^src\//,
  /^dist\/(?!page\/|codex\.js$).*\.m?js$/,
  /\.cache$/,
  /\.pack\.cjs$/,
  /packs\.json$/,
];
/** Modules that are started by their path. */
const STARTED = { view: ["dist/server/worker.js"] };

const [directory] = process.argv.slice(2);
const stage = mkdtempSync(join(tmpdir(), "codex-release-"));
try {
  const ours = listOurs();
  stageOurs(ours);
  for (const one of ours) await bundleModules(one);
  writeManifest(ours, copyOthers(ours));
  for (const page of ["README.md", "LICENSE"]) copyFileSync(join(ROOT, page), join(stage, page));
  console.log(pack());
} finally {
  rmSync(stage, { recursive: true });
}

/** The public packages of this workspace. */
function listOurs() {
  return readdirSync(join(ROOT, "packages"))
    .filter((name) => existsSync(join(ROOT, "packages", name, "package.json")))
    .map((name) => ({ name, manifest: readJson(join(ROOT, "packages", name, "package.json")) }))
    .filter(({ manifest }) => manifest.private !== true);
}

/** Copies what each publishes, besides its modules. */
function stageOurs(ours) {
  for (const { name, manifest } of ours) {
    const from = join(ROOT, "packages", name);
    for (const path of listFiles(from))
      if (isPublished(path, manifest) && !isLeftOut(path, LEFT_OUT_OF_OURS))
        copy(join(from, path), join(stage, "packages", name, path));
    // What it depends on is beside it: npm must not look for that.
    const { version, description, license, type, sideEffects, engines, exports } = manifest;
    const kept = { name: manifest.name, version, description, license, type, sideEffects, engines, exports };
    writeJson(join(stage, "packages", name, "package.json"), kept);
  }
}

/** Only the forms that our manifests use: a file, a directory, and a name that ends with any one. */
function isPublished(path, { files }) {
  return files.some((name) =>
    name.endsWith("*") ? path.startsWith(name.slice(0, -1)) : path === name || path.startsWith(`${name}/`),
  );
}

/** Paths of the files of a package, from there, without those of packages that it depends on. */
function listFiles(directory, below = "") {
  return readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    if (entry.isFile()) return [path];
    return entry.isDirectory() && entry.name !== "node_modules" ? listFiles(directory, path) : [];
  });
}

/** The modules of a package in one file for each entry, and one for what they share. */
async function bundleModules({ name, manifest }) {
  const entries = Object.values(manifest.exports).map((target) => target.default ?? target);
  const modules = [...entries, ...(STARTED[name] ?? [])].filter((file) => /\.m?js$/.test(file));
  const from = join(ROOT, "packages", name);
  const { outputFiles } = await build({
    absWorkingDir: from,
    entryPoints: modules,
    outbase: "dist",
    outdir: join(stage, "packages", name, "dist"),
    outExtension: modules.some((file) => file.endsWith(".mjs")) ? { ".js": ".mjs" } : {},
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "bundle",
    plugins: [gateThread, { name: "keep-packages", setup: keepPackages }],
    legalComments: "none",
    write: false,
    logLevel: "warning",
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

function keepPackages({ onResolve }) {
  onResolve({ filter: /^[^./]/ }, ({ path }) => (INLINED.test(packageOf(path)) ? undefined : { path, external: true }));
}

function packageOf(specifier) {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)[0];
}

/**
 * Copies the packages of others that ours depend on, and what these depend on in turn, and collects all their licenses.
 * @returns versions by name of those in `node_modules`, and of the parts of others for one kind of host each
 */
function copyOthers(ours) {
  const versions = new Map();
  const bundled = {};
  const platforms = {};
  const licenses = [];
  const visit = (name, from, into) => {
    if (FROM_REGISTRY.includes(name) || name.startsWith("@codex/")) return;
    const place = findPackage(name, from);
    const { version, dependencies = {}, optionalDependencies = {} } = readJson(join(place, "package.json"));
    // What only the command needs is joined to its files.
    const isInlined = INLINED.test(name) || into === "command";
    if (isInlined && !into) throw new Error(`${from} is not bundled, and needs ${name}, which is`);
    const before = versions.get(name);
    if (before !== undefined && before !== version)
      throw new Error(`${name} is needed as ${before} and as ${version}: one file can hold one of them`);
    if (before !== undefined) return;
    versions.set(name, version);
    licenses.push(readLicense(name, version, place));
    if (LINKED.includes(name)) {
      // It compiles nothing: what it would make is there for each host that is supported.
      copyPackage(name, place, join(stage, "native", name), WITHOUT_DEPENDENCIES);
      for (const [part, range] of Object.entries(optionalDependencies))
        if (/-(linux|darwin)-(x64|arm64)$/.test(part)) platforms[part] = range;
      return;
    }
    if (!isInlined) {
      bundled[name] = version;
      // The suite of this project runs with it on each version of Node that is supported.
      copyPackage(name, place, join(stage, "node_modules", name), { engines: undefined });
    }
    for (const dependency of Object.keys(dependencies)) visit(dependency, place, isInlined && into);
  };
  for (const { name, manifest } of [...libraries(ours), command(ours)])
    for (const dependency of Object.keys(manifest.dependencies ?? {}))
      visit(dependency, join(ROOT, "packages", name), name === "cli" ? "command" : "library");
  writeFileSync(join(stage, "LICENSES-OF-OTHERS.txt"), licenses.sort().join("\n\n"));
  return { bundled, platforms };
}

/** @param changes members of the manifest */
function copyPackage(name, place, target, changes) {
  for (const path of listFiles(place))
    if (!isLeftOut(path, LEFT_OUT, LEFT_OUT_OF[name])) copy(join(place, path), join(target, path));
  writeJson(join(target, "package.json"), { ...readJson(join(place, "package.json")), ...changes });
}

function readLicense(name, version, place) {
  const file = readdirSync(place).find((each) => /^(licen[cs]e|copying)/i.test(each));
  const text =
    file === undefined ? readJson(join(place, "package.json")).license : readFileSync(join(place, file), "utf8");
  return `${name} ${version}\n\n${text.trim()}\n`;
}

function libraries(ours) {
  return ours.filter(({ name }) => name !== "cli");
}

function command(ours) {
  return ours.find(({ name }) => name === "cli");
}

function writeManifest(ours, { bundled, platforms }) {
  const { version, license, engines } = command(ours).manifest;
  const all = (member) => Object.assign({}, ...libraries(ours).map(({ manifest }) => manifest[member]));
  const [dependencies, peers] = [all("dependencies"), all("peerDependencies")];
  for (const name of FROM_REGISTRY) delete peers[name];
  writeJson(join(stage, "package.json"), {
    name: "codex",
    version,
    description: "Lets an agent's tools run somewhere else: the `codex` command, and the library as `@codex/…`.",
    license,
    engines,
    bin: { codex: COMMAND, "codex-ts": COMMAND },
    exports: { "./package.json": "./package.json" },
    dependencies: sorted({
      ...Object.fromEntries(ours.map(({ name, manifest }) => [manifest.name, `file:packages/${name}`])),
      ...Object.fromEntries(FROM_REGISTRY.map((name) => [name, dependencies[name]])),
      ...Object.fromEntries(LINKED.map((name) => [name, `file:native/${name}`])),
      ...bundled,
    }),
    optionalDependencies: sorted(platforms),
    bundleDependencies: Object.keys(sorted(bundled)),
    peerDependencies: sorted(peers),
    peerDependenciesMeta: Object.fromEntries(Object.keys(sorted(peers)).map((name) => [name, { optional: true }])),
  });
}

function sorted(record) {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pack() {
  const [{ filename, files, unpackedSize }] = JSON.parse(
    npm(["pack", "--json", "--pack-destination", directory], stage),
  );
  const file = join(directory, filename);
  const list = files.map(({ path }) => `${hash(join(stage, path))}  ${path}`).sort();
  writeFileSync(`${file}.sha256`, `${hash(file)}  ${basename(file)}\n`);
  writeFileSync(`${file}.contents`, `${list.join("\n")}\n`);
  console.error(`codex: ${files.length} files, ${(unpackedSize / 1e6).toFixed(1)} MB unpacked`);
  return file;
}

/** A copy without the line that names its map. */
function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  if (!/\.[cm]?[jt]s$/.test(to)) return;
  const text = readFileSync(to, "utf8");
  const without = text.replace(/\n\/\/# sourceMappingURL=\S*\s*$/, "\n");
  if (without !== text) writeFileSync(to, without);
}

function isLeftOut(path, patterns, own) {
  return [...patterns, ...(own === undefined ? [] : [own])].some((pattern) => pattern.test(path));
}

function findPackage(name, from) {
  const paths = createRequire(join(from, "package.json")).resolve.paths(name) ?? [];
  const found = paths.map((path) => join(path, name)).find((path) => existsSync(join(path, "package.json")));
  if (found === undefined) throw new Error(`${name}, which ${from} depends on, is not installed`);
  return realpathSync(found);
}

function npm(args, cwd) {
  return execFileSync("npm", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
  });
}

function hash(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function writeJson(file, value) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
