// The files of the `codex` command: chunks that share their modules, and packs. A pack holds every chunk that a command loads,
// in one file with the code that V8 has compiled for it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** A run takes less than a second. */
const RUN_MS = 60_000;
const PARAMETERS = "(exports,require,module,__filename,__dirname)";

/**
 * Wraps the text of a CommonJS file, so that both `require` and a script can evaluate it: as a script it evaluates to the module
 * function that Node would create. So `main.ts` does not have to wrap the text, which would then be in memory twice.
 */
export const WRAPPER = {
  banner: `(this===globalThis?(run)=>run:(run)=>run.call(this,${PARAMETERS.slice(1)})(function${PARAMETERS}{`,
  footer: "});",
};

/**
 * Builds entry points whose modules are each in one chunk. esbuild splits ES modules only, and Node loads CommonJS faster,
 * so each chunk is converted.
 * @returns by the name of a chunk's file its text, and the packages that it has code of
 */
export async function buildChunks(options, parts) {
  const { outputFiles, metafile } = await build({
    ...options,
    absWorkingDir: ROOT, // paths in the metafile are relative to it
    outdir: parts,
    outExtension: { ".js": ".cjs" },
    splitting: true,
    format: "esm",
    define: { "import.meta.url": "__filename" },
    write: false,
    metafile: true,
  });
  mkdirSync(parts, { recursive: true });
  const chunks = new Map();
  for (const { path, text } of outputFiles) {
    const form = { format: "cjs", platform: "node", target: options.target, minify: true };
    const { code: converted } = await transform(markImports(requireChunks(text)), form);
    const code = loadOnUse(escapeRegExps(converted), path);
    chunks.set(basename(path), { code, packages: packagesIn(metafile, path) });
    writeFileSync(path, `${WRAPPER.banner}${code}${WRAPPER.footer}`);
  }
  return chunks;
}

/** `main.ts` reads a chunk with a byte for each character. esbuild escapes others, but not in regular expressions, where `\\u` means the same. */
const escapeRegExps = (code) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

function packagesIn(metafile, path) {
  const [, { inputs }] = Object.entries(metafile.outputs).find(([name]) => basename(name) === basename(path));
  const used = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return used.map(([name]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1] ?? entryOf(name));
}

/** Our package that a source is in, with the folder where this has an index of its own, such as `policy/display`. */
function entryOf(source) {
  const [, name, folder] = /packages\/([^/]+)\/src\/(?:([^/]+)\/)?/.exec(source);
  const hasIndex = folder !== undefined && existsSync(`${ROOT}/packages/${name}/src/${folder}/index.ts`);
  return hasIndex ? `${name}/${folder}` : name;
}

/** `import(…)` of a chunk or a module of Node becomes `require`; one that is resolved at run time asks the loader of the chunks. */
const requireChunks = (text) =>
  text
    .replace(/\bimport\("(?:node:([^"]+)|(\.\/[^"]+))"\)/g, (_import, builtin, chunk) => {
      return `Promise.resolve().then(()=>require(${JSON.stringify(builtin ?? chunk)}))`;
    })
    .replace(/\bimport\((?=[\w$(]|"@codex\/)/g, "(require.import??(url=>import(url)))(");

/** Modules of Node that take long to load, and that many commands never use. */
const LOADED_ON_USE = [
  "child_process",
  "crypto",
  "dgram",
  "fs/promises",
  "http",
  "https",
  "net",
  "readline",
  "tls",
  "tty",
  "v8",
  "zlib",
];

const MARK = "on-use:";

/** Marks static imports of such modules, for `loadOnUse`. Only output of esbuild is matched: it writes no space there. */
const markImports = (text) =>
  text.replace(/\bimport(\{[^{}"'`]*\})from"node:([^"]+)"/g, (statement, names, name) =>
    LOADED_ON_USE.includes(name) ? `import${names}from"${MARK}${name}/${memberNames(names)}"` : statement,
  );

const memberNames = (names) =>
  [...new Set(names.slice(1, -1).split(","))].map((each) => each.trim().split(" as ")[0]).join("+");

/** The objects of marked imports load their module when a member is read. @throws Error for a mark in a text of the program */
function loadOnUse(code, file) {
  const changed = code.replace(new RegExp(`require\\("${MARK}([^"]+)/([^"/]+)"\\)`, "g"), (_call, name, members) => {
    const getters = members.split("+").map((each) => {
      const isRandom = name === "crypto" && /^random/.test(each);
      const owner = isRandom ? `(require.random??require("node:crypto"))` : `require("node:${name}")`;
      return `get ${each}(){return ${owner}.${each}}`;
    });
    return `{${getters.join(",")}}`;
  });
  if (changed.includes(MARK)) throw new Error(`${file}: text was marked that is not an import`);
  return changed;
}

/** `ws` loads everything that a secure or compressed connection could need. */
export const lightWebSockets = {
  name: "light-web-sockets",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]ws[\\/]lib[\\/][^\\/]+\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8")
        // Functions of Node 26 and newer.
        .replace(
          "websocketUnmask } = require('http');",
          "websocketUnmask } = parseInt(process.versions.node) < 26 ? {} : require('http');",
        )
        .replace(
          /const http = require\('http'\);(?=\nconst net)/,
          `const http = require(${JSON.stringify(WEBSOCKET_HTTP)});`,
        )
        .replace(
          /^const (http|https|querystring|tls|zlib) = require\('\1'\);$/gm,
          'const $1 = new Proxy({}, { get: (_target, name) => require("$1")[name] });',
        )
        .replace(
          "const { createHash } = require('crypto');", // of the server
          "const createHash = (name) => require('crypto').createHash(name);",
        )
        // An optional native add-on: looking for it takes time, and it is not there.
        .replace("if (!process.env.WS_NO_BUFFER_UTIL) {", "if (false) {")
        .replace(/(?<=^const \{ random.*)require\('crypto'\)/m, `require(${JSON.stringify(WEBSOCKET_CRYPTO)})`),
    }));
  },
};

const WEBSOCKET_CRYPTO = `${ROOT}packages/cli/src/websocket-crypto.ts`;
const WEBSOCKET_HTTP = `${ROOT}packages/cli/src/websocket-http.ts`;

/**
 * The SDK of MCP gets a copy of zod of its own. It uses all of zod, and a module that chunks share is cut down to what any of them
 * uses: each command would load all of it.
 */
export const ownZodForMcp = {
  name: "own-zod-for-mcp",
  setup({ onLoad, onResolve, resolve }) {
    const copy = async (name, { resolveDir, kind }) => {
      const { path, errors, sideEffects } = await resolve(name, { resolveDir, kind, pluginData: RESOLVED });
      // Below the checkout: names of chunks are made of it, and are the same in each one.
      return { path: relative(ROOT, path), errors, sideEffects, namespace: COPY };
    };
    onResolve({ filter: /^zod(\/|$)/ }, (args) => {
      if (args.pluginData === RESOLVED || !/[\\/]@modelcontextprotocol[\\/]/.test(args.importer)) return undefined;
      return copy(args.path, args);
    });
    onResolve({ filter: /^\./, namespace: COPY }, (args) =>
      args.pluginData === RESOLVED ? undefined : copy(args.path, args),
    );
    onLoad({ filter: /.*/, namespace: COPY }, ({ path }) => ({
      contents: readFileSync(join(ROOT, path), "utf8"),
      resolveDir: dirname(join(ROOT, path)),
    }));
  },
};

const COPY = "own-zod-for-mcp";
const RESOLVED = { isResolved: true };

/** `main.ts` reads a part with a byte for each character. esbuild escapes other characters, but not in regular expressions. */
export function requireAscii(file) {
  const found = /.{0,40}[^\0-\x7f]/.exec(readFileSync(file, "utf8"));
  if (found !== null) throw new Error(`${file}: write \\u and its number for the last character of ${found[0]}`);
}

/** The names of the chunks that these runs load. @param runs `{ part, name, options, words }`: what the part is called with */
export async function listChunks(parts, { runs, env, input }) {
  const list = `${parts}/chunks.list`;
  await runAhead({ mode: "list", output: list, runs, env, input });
  const names = JSON.parse(readFileSync(list, "utf8"));
  rmSync(list);
  return names;
}

/**
 * Writes a pack.
 * @param names of its chunks
 * @param elsewhere by the name of a chunk the file of the pack that has it
 * @returns its size, and the packages that it has code of
 */
export function writePack(file, chunks, names, elsewhere = {}) {
  const members = [
    ...names.map((name) => `${JSON.stringify(`./${name}`)}:function${PARAMETERS}{${chunks.get(name).code}}`),
    ...Object.entries(elsewhere).map(([name, pack]) => `${JSON.stringify(`./${name}`)}:${JSON.stringify(pack)}`),
  ];
  const text = `({${members.join(",")}})`;
  writeFileSync(file, text);
  return { bytes: text.length, packages: [...new Set(names.flatMap((name) => chunks.get(name).packages))].sort() };
}

/** Keeps what V8 compiles until the runs have come to their end, beside the file, for the same version of V8. `input` is what a client sends, `base` a pack that the file adds to. */
export async function compileAhead(file, { runs, env, input, base }) {
  await runAhead({
    mode: "compile",
    file,
    base,
    output: `${file}.${process.versions.v8}-${process.arch}.cache`,
    runs,
    env,
    input,
  });
}

/** @throws Error with what the command wrote to stderr, also when it does not end in time */
async function runAhead({ env = process.env, input = "", ...task }) {
  const program = fileURLToPath(new URL("run-ahead.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ["pipe", "ignore", "pipe"],
    env,
    timeout: RUN_MS,
    killSignal: "SIGKILL",
  });
  child.stdin.end(input);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors += text;
  });
  const [code, signal] = await once(child, "close");
  if (code !== 0) throw new Error(`what was run for ${task.output} ended with ${code ?? signal}: ${errors}`);
}
