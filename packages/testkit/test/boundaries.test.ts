import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The packages by floors, lowest first. What each depends on is in its `package.json`, and must be what it imports. */
const FLOORS: Readonly<Record<string, string>> = {
  ground:
    "channel clock exec-backend exec-gate exec-server-protocol executor-protocol file-lock http-proxy network-policy permissions plain-file recording telemetry values toml",
  link: "exec-server-client executor-client relay rendezvous",
  host: "exec-server executor host-files native network-proxy process-host sandbox servers shell-snapshot",
  core: "agent apply-patch audit config environments file-tools hooks model orchestrator policy shell-analysis starlark",
  faces: "acp agent-terminal ai-sdk cli local mcp mcp-client openai-agents view",
  // Private: may import every package.
  tests: "testkit",
};

/** The floors that a floor may import, including its own: `host` and `core` do not import each other. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  ground: ["ground"],
  link: ["link", "ground"],
  host: ["host", "link", "ground"],
  core: ["core", "link", "ground"],
  faces: ["faces", "core", "host", "link", "ground"],
  tests: ["tests", "faces", "core", "host", "link", "ground"],
};

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

interface Source {
  /** Below `src`, with `/`. */
  path: string;
  text: string;
  /** Its import specifiers, types included. */
  imports: string[];
}

const packages = Object.values(FLOORS).flatMap((names) => names.split(" "));
const sources = new Map(packages.map((name) => [name, readSources(name)]));

it("gives every package a floor", () => {
  const present = readdirSync(root).filter((name) => existsSync(join(root, name, "package.json")));
  expect([...packages].sort()).toEqual(present.sort());
});

describe.each(packages)("package %s", (name) => {
  const files = sources.get(name)!;
  const imported = files.flatMap(({ path, imports }) => imports.map((specifier) => ({ path, specifier })));

  it("declares what it imports, and imports what it declares", () => {
    const { dependencies, peerDependencies } = readManifest(join(root, name));
    const used = new Set(
      imported
        .map(({ specifier }) => specifier)
        .filter((specifier) => !/^(\.|node:)/.test(specifier))
        .map(packageOf),
    );
    const declared = Object.keys({ ...dependencies, ...peerDependencies });
    expect(declared).toEqual(expect.arrayContaining([...used]));
    const unused = declared.filter((other) => other.startsWith("@codex/") && !used.has(other));
    expect(unused).toEqual([]);
  });

  it("depends on its own floor and those below it", () => {
    const { dependencies } = readManifest(join(root, name));
    const others = Object.keys(dependencies ?? {}).filter((other) => other.startsWith("@codex/"));
    const below = BELOW[floorOf(name)]!;
    for (const other of others) expect(below, other).toContain(floorOf(other.slice("@codex/".length)));
  });

  it("refers TypeScript to what it depends on", () => {
    const { dependencies } = readManifest(join(root, name));
    const { references = [] } = JSON.parse(readFileSync(join(root, name, "tsconfig.json"), "utf8")) as {
      references?: { path: string }[];
    };
    const others = Object.keys(dependencies ?? {}).filter((other) => other.startsWith("@codex/"));
    expect(references.map(({ path }) => path).sort()).toEqual(
      others.map((other) => `../${other.slice("@codex/".length)}`).sort(),
    );
  });

  it("has one entry point, which its own files do not import, without star exports", () => {
    for (const { path, specifier } of imported) {
      if (specifier.startsWith(".")) expect(specifier, path).not.toMatch(/^\.\.?\/(\.\.\/)*index\.js$/);
    }
    for (const { path, text } of files) expect(text, path).not.toMatch(/^export \*/m);
  });

  it("uses zod/mini only", () => {
    for (const { path, specifier } of imported) expect(specifier, path).not.toBe("zod");
  });

  it("has no import cycles between files, types included", () => {
    expect(findCycles(fileGraph(files))).toEqual([]);
  });

  it("has no import cycles between folders", () => {
    expect(findCycles(folderGraph(files))).toEqual([]);
  });
});

it.each(["node-pty", "koffi"])("touches %s in native only", (library) => {
  const users = packages.filter((name) =>
    sources.get(name)!.some(({ imports }) => imports.map(packageOf).includes(library)),
  );
  expect(users).toEqual(["native"]);
});

it.each(["environments", "exec-server-client", "executor", "orchestrator", "policy"])(
  "installs nothing native with %s",
  (name) => {
    const installed = closure(join(root, name));
    expect([...installed]).toEqual(expect.arrayContaining(["@codex/executor-protocol"]));
    expect([...installed].filter((other) => ["node-pty", "koffi", "@codex/native"].includes(other))).toEqual([]);
  },
);

it("the orchestrator does not depend on the executor or any exec-server", () => {
  const installed = [...closure(join(root, "orchestrator"))];
  expect(installed.filter((other) => /^@codex\/(executor|exec-server.*)$/.test(other))).toEqual([]);
});

it("finds cycles", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", ["a"]],
    ["d", []],
  ]);
  expect(findCycles(graph)).toEqual([["a", "b", "c"]]);
});

function floorOf(name: string): string {
  const floor = Object.keys(FLOORS).find((candidate) => FLOORS[candidate]!.split(" ").includes(name));
  if (floor === undefined) throw new Error(`${name} is on no floor`);
  return floor;
}

function readManifest(directory: string): Manifest {
  // npm validates the manifest.
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;
}

function readSources(name: string): Source[] {
  const src = join(root, name, "src");
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.m?ts$/.test(path))
    .map((path) => {
      const text = readFileSync(join(src, path), "utf8");
      return { path: path.replaceAll("\\", "/"), text, imports: importsOf(text) };
    });
}

function importsOf(text: string): string[] {
  const found = text.matchAll(
    /^(?:import|export)\s+(?:[^"=;]*?\bfrom\s+)?"([^"]+)";$|\b(?:import|requireNative|(?:require|createRequire\(import\.meta\.url\))(?:\.resolve)?)\(\s*["'`]([^"'`]+)/gm,
  );
  return [...found].map((match) => match[1] ?? match[2] ?? "");
}

/** `@scope/name` of `@scope/name/part`. */
function packageOf(specifier: string): string {
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Each file, and the files of the same package that it imports. */
function fileGraph(files: readonly Source[]): Map<string, string[]> {
  const known = new Set(files.map(({ path }) => path));
  const target = (from: string, specifier: string) =>
    relative("/", join("/", dirname(from), specifier)).replace(/\.(m?)js$/, ".$1ts");
  return new Map(
    files.map(({ path, imports }) => {
      const relatives = imports.filter((specifier) => specifier.startsWith("."));
      return [path, relatives.map((specifier) => target(path, specifier)).filter((other) => known.has(other))];
    }),
  );
}

/** A file directly in `src` is a node of its own, any other belongs to the node of its folder. */
function folderGraph(files: readonly Source[]): Map<string, string[]> {
  const nodeOf = (path: string) => (path.includes("/") ? dirname(path) : path);
  const graph = new Map<string, string[]>();
  for (const [path, others] of fileGraph(files)) {
    const from = nodeOf(path);
    const to = others.map(nodeOf).filter((other) => other !== from);
    graph.set(from, [...(graph.get(from) ?? []), ...to]);
  }
  return graph;
}

/** Groups of nodes that all reach each other, each sorted. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const reached = new Map([...graph.keys()].map((node) => [node, reach(graph, node)]));
  const groups = new Map<string, string[]>();
  for (const [node, others] of reached) {
    if (!others.has(node)) continue;
    const members = [...others].filter((other) => reached.get(other)?.has(node)).sort();
    groups.set(members.join(" "), members);
  }
  return [...groups.values()];
}

function reach(graph: ReadonlyMap<string, readonly string[]>, from: string): Set<string> {
  const seen = new Set<string>();
  const open = [...(graph.get(from) ?? [])];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    open.push(...(graph.get(node) ?? []));
  }
  return seen;
}

/** Names of all packages that are installed with a package, as found in `node_modules`. */
function closure(directory: string): Set<string> {
  const names = new Set<string>();
  const seen = new Set<string>();
  const open = [realpathSync(directory)];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    if (seen.has(from)) continue;
    seen.add(from);
    const { dependencies, optionalDependencies } = readManifest(from);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      names.add(name);
      const places = createRequire(join(from, "package.json")).resolve.paths(name) ?? [];
      const place = places.map((path) => join(path, name)).find((path) => existsSync(join(path, "package.json")));
      // Only an optional one may be missing, for another platform.
      if (place !== undefined) open.push(realpathSync(place));
      else expect(optionalDependencies, `${name}, a dependency of ${from}`).toHaveProperty([name]);
    }
  }
  return names;
}
