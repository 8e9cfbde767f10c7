// The public API of each published package, as `docs/api/<package>.md`: every name that its entry points export, and the
// unexported types that these refer to. Reads the declarations that `tsc -b` emitted.
// Without arguments it compares and fails if a page is stale or a name has no docstring; `--write` updates the pages.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";

const UPDATE = "npx pnpm@10.34.8 run api";
const root = fileURLToPath(new URL("..", import.meta.url));
const pages = join(root, "docs/api");
const write = process.argv.includes("--write");
const modules = new Map();
const problems = [];

const written = new Set();
for (const name of readdirSync(join(root, "packages")).sort()) {
  const directory = join(root, "packages", name);
  const manifest = existsSync(join(directory, "package.json")) && readJson(join(directory, "package.json"));
  if (!manifest || manifest.private) continue;
  checkPage(name, renderPackage(name, directory, manifest));
}
for (const file of existsSync(pages) ? readdirSync(pages) : []) {
  if (!file.endsWith(".md") || written.has(file)) continue;
  if (write) rmSync(join(pages, file));
  else problems.push(`docs/api/${file} belongs to no published package: \`${UPDATE}\` removes it`);
}
for (const problem of problems) console.error(`scripts/api.mjs: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;

function renderPackage(name, directory, manifest) {
  const entryPoints = Object.entries(manifest.exports).filter(([, target]) => target.types !== undefined);
  const parts = entryPoints.map(([entryPoint, { types }]) =>
    renderEntryPoint(name, `${manifest.name}${entryPoint.slice(1)}`, join(directory, types)),
  );
  const intro = `Generated from the emitted declarations: \`${UPDATE}\` updates it, \`./scripts/test\` fails where it is stale.`;
  return [`# API of ${manifest.name}`, intro, ...parts].join("\n\n").concat("\n");
}

function renderEntryPoint(packageName, title, file) {
  const exported = new Map();
  const foreign = [];
  for (const [name, target] of readModule(file).exports) {
    const found = resolveName(target.file, target.name);
    if (found.declarations === undefined) foreign.push(`${name} from ${found.from}`);
    else exported.set(name, found);
  }
  for (const [name, { declarations }] of exported) {
    if (!isDocumented(declarations))
      problems.push(`@codex/${packageName} exports ${name} without a docstring: say what it is, with units and errors`);
  }
  const hidden = findReferenced([...exported.values()]);
  return [
    `## \`${title}\``,
    ...(foreign.length > 0
      ? [
          `Passed on: ${foreign
            .sort()
            .map((entry) => `\`${entry}\``)
            .join(", ")}.`,
        ]
      : []),
    ...[...exported].sort(byName).map(([name, found]) => `### ${name}\n\n${renderDeclarations(found)}`),
    ...(hidden.length > 0 ? ["### Named above, not exported", hidden.map(renderDeclarations).join("\n\n")] : []),
  ].join("\n\n");
}

/** A type that is inferred from a schema has the docstring of the schema. */
function isDocumented(declarations) {
  if (declarations.some(({ documented }) => documented)) return true;
  const [{ text, names }] = declarations;
  const schema = /= z\.(?:infer|output)<typeof (\w+)>;$/.exec(text)?.[1];
  const found = schema === undefined ? undefined : resolveName(names[0].file, schema);
  return found?.declarations?.some(({ documented }) => documented) ?? false;
}

function renderDeclarations({ declarations }) {
  return ["```ts", ...declarations.map(({ text }) => text), "```"].join("\n");
}

/** The declarations of the same package that `found` refers to, directly or indirectly, without `found` itself. */
function findReferenced(found) {
  const seen = new Set(found.map(({ key }) => key));
  const open = [...found];
  const hidden = new Map();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { file, name } of next.declarations.flatMap(({ names }) => names)) {
      const target = resolveName(file, name);
      if (target.declarations === undefined || seen.has(target.key)) continue;
      seen.add(target.key);
      hidden.set(target.key, target);
      open.push(target);
    }
  }
  return [...hidden].sort(([a, x], [b, y]) => compare(x.name, y.name) || compare(a, b)).map(([, target]) => target);
}

/** The declarations of a name that a file declares, imports or exports; where it comes from when that is another package. */
function resolveName(file, name) {
  const module = readModule(file);
  const declarations = module.declarations.get(name);
  if (declarations !== undefined) return { key: `${file}:${name}`, name, declarations };
  const imported = module.imports.get(name);
  if (imported === undefined) return { from: "the language" };
  if (imported.file === undefined) return { from: imported.from };
  if (imported.name === "*") return { from: imported.file };
  const target = readModule(imported.file).exports.get(imported.name);
  if (target === undefined) throw new Error(`${imported.file} does not export ${imported.name}: run \`tsc -b\``);
  return resolveName(target.file, target.name);
}

function readModule(file) {
  const known = modules.get(file);
  if (known !== undefined) return known;
  if (!existsSync(file)) throw new Error(`${file} is missing: run \`npx pnpm@10.34.8 exec tsc -b\` first`);
  const text = readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const module = { declarations: new Map(), imports: new Map(), exports: new Map() };
  modules.set(file, module);
  const docs = new Map(comments.filter(({ value }) => value.startsWith("*")).map((comment) => [comment.end, comment]));
  for (const node of program.body) {
    if (node.type === "ImportDeclaration") addImports(module, file, node);
    else if (node.type === "ExportNamedDeclaration" && node.declaration === null) addExports(module, file, node);
    else if (node.type === "ExportAllDeclaration") throw new Error(`${file}: "export *" is not supported`);
    else addDeclaration(module, file, node, text, docs);
  }
  return module;
}

function addImports(module, file, node) {
  for (const specifier of node.specifiers) {
    const kind = specifier.type;
    const name =
      kind === "ImportSpecifier" ? specifier.imported.name : kind === "ImportDefaultSpecifier" ? "default" : "*";
    module.imports.set(specifier.local.name, { ...locate(file, node.source.value), name });
  }
}

function addExports(module, file, node) {
  for (const { local, exported } of node.specifiers) {
    if (node.source === null) {
      module.exports.set(exported.name, { file, name: local.name });
      continue;
    }
    // Recorded as an import, under a name that cannot collide with another.
    const name = `export ${exported.name}`;
    module.imports.set(name, { ...locate(file, node.source.value), name: local.name });
    module.exports.set(exported.name, { file, name });
  }
}

function addDeclaration(module, file, node, text, docs) {
  const isExport = node.type === "ExportNamedDeclaration";
  const isDefault = node.type === "ExportDefaultDeclaration";
  const inner = isExport || isDefault ? node.declaration : node;
  const documentation = docs.get(text.slice(0, node.start).trimEnd().length);
  const names =
    inner.type === "VariableDeclaration" ? inner.declarations.map(({ id }) => id.name) : [inner.id?.name ?? "default"];
  const declaration = {
    text: text.slice(documentation?.start ?? node.start, node.end).replace(/^ *#private;\n/gm, ""),
    documented: documentation !== undefined,
    names: namesIn(inner, file),
  };
  for (const name of names) {
    module.declarations.set(name, [...(module.declarations.get(name) ?? []), declaration]);
    if (isExport) module.exports.set(name, { file, name });
    if (isDefault) module.exports.set("default", { file, name });
  }
}

/** The names a declaration uses where a type or a base class is expected. */
function namesIn(node, file) {
  const names = [];
  const visit = (value) => {
    if (Array.isArray(value)) value.forEach(visit);
    if (value === null || typeof value !== "object" || typeof value.type !== "string") return;
    for (const used of [
      value.typeName,
      value.exprName,
      value.superClass,
      value.type === "TSTypeReference" ? undefined : value.expression,
    ]) {
      const first = leftmost(used);
      if (first !== undefined) names.push({ file, name: first });
    }
    if (value.type === "TSImportType") {
      const { file: target } = locate(file, value.source.value);
      const name = leftmost(value.qualifier);
      if (target !== undefined && name !== undefined) names.push({ file: target, name });
    }
    for (const child of Object.values(value)) visit(child);
  };
  visit(node);
  return names;
}

/** `A` of `A` and of `A.B`. */
function leftmost(node) {
  if (node?.type === "Identifier") return node.name;
  if (node?.type === "TSQualifiedName") return leftmost(node.left);
  return node?.type === "MemberExpression" ? leftmost(node.object) : undefined;
}

/** @returns the declarations a relative specifier stands for, or `from`, the package. */
function locate(file, specifier) {
  if (!specifier.startsWith(".")) return { from: specifier };
  return { file: join(dirname(file), specifier.replace(/\.(m?)js$/, ".d.$1ts")) };
}

function checkPage(name, text) {
  const file = join(pages, `${name}.md`);
  written.add(basename(file));
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (before === text) return;
  if (write) {
    mkdirSync(pages, { recursive: true });
    writeFileSync(file, text);
    return;
  }
  const [old, now] = [before.split("\n"), text.split("\n")];
  const line = now.findIndex((value, index) => value !== old[index]);
  const at = line === -1 ? now.length : line;
  problems.push(
    `docs/api/${name}.md is stale: the public surface of @codex/${name} has changed. Run \`${UPDATE}\` and review the ` +
      `difference, which begins at line ${at + 1}:\n  - ${old[at] ?? ""}\n  + ${now[at] ?? ""}`,
  );
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function byName([a], [b]) {
  return compare(a, b);
}

/** By code units, which does not depend on the locale. */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
