import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  scripts?: Record<string, string>;
}

const readManifest = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;

/**
 * An empty project in which npm has installed one package of this workspace with all it depends on: each as its tarball,
 * and without a registry. Returns its directory, which the caller removes.
 * @param packageDirectory of the package
 */
export async function installAlone(packageDirectory: string): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), "codex installed-"));
  const staging = join(project, "staging");
  mkdirSync(staging);
  const directories = [...dependencyTree(packageDirectory)];
  const staged = directories.map((directory, index) => stage(directory, join(staging, String(index))));
  const npm = (...args: string[]) => promisify(execFile)("npm", args, { cwd: project, encoding: "utf8" });
  const { stdout } = await npm("pack", "--json", "--ignore-scripts", "--pack-destination", staging, ...staged);
  const tarballs = (JSON.parse(stdout) as { filename: string }[]).map(
    ({ filename }) => `file:staging/${basename(filename)}`,
  );
  const names = directories.map((directory) => readManifest(directory).name);
  const [wanted, ...others] = names.map((name, index) => [name, tarballs[index]!] as const);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({
      type: "module",
      dependencies: Object.fromEntries([wanted!]),
      // What a registry would be asked for otherwise.
      overrides: Object.fromEntries(others),
    }),
  );
  await npm("install", "--offline", "--no-audit", "--no-fund", "--cache", join(staging, "cache"));
  return project;
}

/** Directories of a package and of everything it depends on; optional peers are nobody's. */
function dependencyTree(directory: string, found = new Set<string>()): Set<string> {
  const real = realpathSync(directory);
  if (found.has(real)) return found;
  found.add(real);
  for (const name of Object.keys(readManifest(real).dependencies ?? {})) dependencyTree(findPackage(name, real), found);
  return found;
}

function findPackage(name: string, from: string): string {
  const paths = createRequire(join(from, "package.json")).resolve.paths(name) ?? [];
  const found = paths.map((path) => join(path, name)).find((path) => existsSync(join(path, "package.json")));
  if (found === undefined) throw new Error(`${name}, which ${from} depends on, is not installed`);
  return found;
}

/** A copy whose manifest is as it is published: versions where the workspace has links. Nothing is built again. */
function stage(directory: string, target: string): string {
  cpSync(directory, target, { recursive: true, filter: (path) => basename(path) !== "node_modules" });
  const { scripts: _, ...manifest } = readManifest(directory);
  const published = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => [
    name,
    range.startsWith("workspace:") ? readManifest(findPackage(name, directory)).version : range,
  ]);
  writeFileSync(
    join(target, "package.json"),
    JSON.stringify({ ...manifest, dependencies: Object.fromEntries(published) }),
  );
  return target;
}

/** Names of the packages that npm has installed in a project. */
export function listInstalled(project: string): string[] {
  const { packages } = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")) as {
    packages: Record<string, unknown>;
  };
  return Object.keys(packages).flatMap((path) =>
    path === "" ? [] : [path.slice(path.lastIndexOf("node_modules/") + 13)],
  );
}

/** Files of a project's dependencies that are native code, or make it at installation. */
export function listNativeFiles(project: string): string[] {
  const modules = join(project, "node_modules");
  return readdirSync(modules, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.(node|so|dylib|dll)$|(^|\/)binding\.gyp$/.test(path),
  );
}
