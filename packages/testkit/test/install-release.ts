import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const execute = promisify(execFile);

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
}

const readManifest = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;

/**
 * An empty project in which npm has installed the file that `scripts/release` makes, without a registry. Returns its
 * directory, which the caller removes, and what npm printed to stderr.
 */
export async function installRelease(): Promise<{ project: string; file: string; stderr: string }> {
  const project = mkdtempSync(join(tmpdir(), "codex installed-"));
  const { stdout } = await execute(process.execPath, [join(root, "scripts/release.mjs"), project]);
  const file = stdout.trim();
  const fromRegistry = [
    findPackage("zod", join(root, "packages/executor")),
    findPackage(
      `@koromix/koffi-${process.platform}-${process.arch}`,
      findPackage("koffi", join(root, "packages/native")),
    ),
  ];
  const overrides = Object.fromEntries(await packAll(join(project, "staging"), fromRegistry));
  const manifest = { type: "module", dependencies: { codex: `file:${file}` }, overrides };
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  const flags = ["--offline", "--no-audit", "--no-fund", "--cache", join(project, "staging/cache")];
  const { stderr } = await execute("npm", ["install", ...flags], { cwd: project });
  return { project, file, stderr };
}

/** A tarball of each package, by its name. */
async function packAll(staging: string, directories: readonly string[]): Promise<[name: string, file: string][]> {
  mkdirSync(staging);
  const staged = directories.map((directory, index) => {
    const copy = join(staging, String(index));
    cpSync(directory, copy, {
      recursive: true,
      filter: (path) => path === directory || basename(path) !== "node_modules",
    });
    return copy;
  });
  const flags = ["--json", "--ignore-scripts", "--pack-destination", staging];
  const { stdout } = await execute("npm", ["pack", ...flags, ...staged], { cwd: staging });
  const packed = JSON.parse(stdout) as { filename: string }[];
  return directories.map((directory, index) => {
    return [readManifest(directory).name, `file:${join(staging, basename(packed[index]!.filename))}`];
  });
}

function findPackage(name: string, from: string): string {
  const paths = createRequire(join(from, "package.json")).resolve.paths(name) ?? [];
  const found = paths.map((path) => join(path, name)).find((path) => existsSync(join(path, "package.json")));
  if (found === undefined) throw new Error(`${name}, which ${from} depends on, is not installed`);
  return realpathSync(found);
}

/** Names of the packages that a package of this workspace depends on, and of those that these depend on. */
export function listDependencies(name: string): Set<string> {
  const found = new Set<string>();
  const visit = (directory: string) => {
    for (const dependency of Object.keys(readManifest(directory).dependencies ?? {})) {
      if (found.has(dependency)) continue;
      found.add(dependency);
      visit(findPackage(dependency, directory));
    }
  };
  visit(join(root, "packages", name));
  return found;
}
