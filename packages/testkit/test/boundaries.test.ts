import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The dependencies of each package in this workspace, by floors, lowest first. */
const FLOORS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ground: {
    clock: "",
    completion: "",
    channel: "text",
    "file-lock": "",
    telemetry: "file-lock",
    "http-proxy": "",
    "exec-gate": "",
    "network-policy": "",
    "plain-file": "",
    text: "",
    toml: "plain-file telemetry",
    background: "channel file-lock",
    "executor-protocol": "",
    "exec-server-protocol": "channel executor-protocol",
    permissions: "executor-protocol",
    recording: "executor-protocol file-lock telemetry",
    "exec-backend": "executor-protocol telemetry",
  },
  link: {
    relay: "channel clock plain-file telemetry text",
    rendezvous: "channel clock plain-file relay telemetry",
    "exec-server-client": "channel clock exec-backend exec-server-protocol executor-protocol telemetry",
    "executor-client": "channel clock executor-protocol telemetry",
  },
  host: {
    "network-proxy": "clock http-proxy network-policy",
    native: "",
    sandbox: "exec-backend executor-protocol native permissions plain-file",
    "process-host": "exec-backend executor-protocol native sandbox telemetry",
    "host-files": "channel exec-backend exec-server-protocol executor-protocol native sandbox",
    "shell-snapshot": "clock exec-backend executor-protocol",
    "exec-server":
      "channel exec-backend exec-server-protocol executor-protocol host-files native shell-snapshot telemetry",
    executor: "channel clock exec-backend executor-protocol permissions shell-snapshot telemetry text",
    servers:
      "background channel exec-backend exec-server executor executor-protocol host-files native process-host rendezvous sandbox telemetry",
  },
  core: {
    "apply-patch": "text",
    starlark: "",
    audit: "file-lock telemetry",
    "shell-analysis": "telemetry",
    policy: "exec-gate executor-protocol file-lock permissions plain-file shell-analysis starlark telemetry",
    orchestrator: "audit channel clock executor-client executor-protocol permissions policy telemetry text",
    config: "executor-protocol file-lock orchestrator permissions plain-file policy toml",
    environments:
      "channel clock exec-backend exec-server-client exec-server-protocol executor-protocol file-lock orchestrator plain-file relay telemetry text toml",
    model: "clock http-proxy text",
    agent:
      "apply-patch clock executor-protocol file-lock model orchestrator permissions plain-file policy telemetry text",
  },
  faces: {
    "agent-terminal": "agent clock executor-protocol file-lock orchestrator permissions policy text",
    foreground: "executor-protocol orchestrator recording telemetry",
    doctor: "config executor-protocol telemetry",
    local: "audit channel environments exec-server executor orchestrator policy process-host",
    "openai-agents": "orchestrator",
    acp: "orchestrator",
    mcp: "channel clock executor-protocol orchestrator policy recording text",
    view: "agent audit channel executor-protocol orchestrator plain-file recording telemetry",
    "ai-sdk": "clock orchestrator",
    "mcp-client": "channel clock environments exec-backend executor executor-protocol orchestrator telemetry text",
    cli:
      "agent agent-terminal audit channel clock completion config doctor environments exec-backend exec-server-client " +
      "exec-server-protocol executor executor-protocol file-lock foreground host-files http-proxy local mcp mcp-client native orchestrator permissions plain-file policy process-host " +
      "recording relay sandbox servers telemetry text view",
  },
  // Private: may import every package.
  tests: {
    testkit:
      "channel clock exec-backend exec-server exec-server-client executor executor-protocol orchestrator process-host relay rendezvous telemetry",
  },
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

const packages = Object.values(FLOORS).flatMap((floor) => Object.keys(floor));
const sources = new Map(packages.map((name) => [name, readSources(name)]));

it("gives every package a floor", () => {
  const present = readdirSync(root).filter((name) => existsSync(join(root, name, "package.json")));
  expect([...packages].sort()).toEqual(present.sort());
});

describe.each(Object.entries(FLOORS))("floor %s", (floor, table) => {
  it.each(Object.entries(table))("%s depends on what the table says", (name, arrows) => {
    const manifest = readManifest(join(root, name));
    const declared = Object.keys(manifest.dependencies ?? {}).filter((other) => other.startsWith("@codex/"));
    expect(
      declared
        .map((other) => other.slice("@codex/".length))
        .sort()
        .join(" "),
    ).toBe(arrows);
    for (const other of arrows.split(" ").filter(Boolean)) expect(BELOW[floor], other).toContain(floorOf(other));
  });
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
  const floor = Object.keys(FLOORS).find((candidate) => name in FLOORS[candidate]!);
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
