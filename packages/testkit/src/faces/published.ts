import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
}

/** The manifest of a package of this workspace. */
const readManifest = (packages: string, folder: string): Manifest =>
  JSON.parse(readFileSync(join(packages, folder, "package.json"), "utf8")) as Manifest;

/**
 * Packs packages and those of this workspace that they depend on, with the versions that a registry would have instead of links.
 * @returns the tarballs by the names of the packages
 */
export function packPublished(packages: string, folders: readonly string[], target: string): Map<string, string> {
  const all = new Set(folders);
  for (const folder of all) {
    for (const name of Object.keys(readManifest(packages, folder).dependencies ?? {})) {
      if (name.startsWith(SCOPE)) all.add(name.slice(SCOPE.length));
    }
  }
  const staged = [...all].map((folder) => stage(packages, folder, join(target, folder)));
  const flags = ["--json", "--ignore-scripts", "--pack-destination", target];
  const packed = execFileSync("npm", ["pack", ...flags, ...staged], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const files = (JSON.parse(packed) as { filename: string }[]).map(({ filename }) => join(target, basename(filename)));
  return new Map([...all].map((folder, index) => [`${SCOPE}${folder}`, files[index] ?? ""]));
}

const SCOPE = "@codex/";

/** A copy of the built package, with its manifest as published. */
function stage(packages: string, folder: string, target: string): string {
  mkdirSync(target, { recursive: true });
  const source = join(packages, folder);
  cpSync(source, target, { recursive: true, filter: (path) => basename(path) !== "node_modules" });
  const manifest = readManifest(packages, folder);
  const versions = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => [
    name,
    range.startsWith("workspace:") ? readManifest(packages, name.slice(SCOPE.length)).version : range,
  ]);
  writeFileSync(
    join(target, "package.json"),
    JSON.stringify({ ...manifest, dependencies: Object.fromEntries(versions) }),
  );
  return target;
}
