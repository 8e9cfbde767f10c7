import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const readDependencies = (name: string): string[] => {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  return Object.keys(dependencies);
};

/** Packages of this workspace, and those that they depend on. */
export function listWithDependencies(names: readonly string[]): string[] {
  const found = new Set(names);
  // A set is walked to its end, also where it grows meanwhile.
  for (const name of found) {
    for (const other of readDependencies(name)) {
      if (other.startsWith("@codex/")) found.add(other.slice("@codex/".length));
    }
  }
  return [...found];
}

/** Each package as `npm pack` would make it, into the `node_modules` of a project. Dependencies of others are linked, as pnpm does. */
export function packInto(project: string, names: readonly string[]): void {
  // Lists what would be in them, in this order.
  const flags = ["--dry-run", "--json", "--ignore-scripts"];
  const sources = names.map((name) => `./packages/${name}`);
  const listed = execFileSync("npm", ["pack", ...flags, ...sources], { cwd: root, encoding: "utf8" });
  const packed = JSON.parse(listed) as { files: { path: string }[] }[];
  names.forEach((name, index) => {
    const files = packed[index]!.files.map(({ path }) => path);
    pack(name, files, join(project, "node_modules/@codex", name));
  });
}

function pack(name: string, files: readonly string[], target: string): void {
  const source = join(root, "packages", name);
  for (const path of files) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    copyFileSync(join(source, path), join(target, path));
  }
  for (const dependency of readDependencies(name).filter((each) => !each.startsWith("@codex/"))) {
    const link = join(target, "node_modules", dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(source, "node_modules", dependency), link);
  }
}
