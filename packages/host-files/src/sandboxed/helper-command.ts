import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { noInspectorOptions } from "@codex/native";

/** A program that does nothing but `serveFileHelper` on its stdin and stdout. */
export interface HelperCommand {
  /** An absolute path, and arguments. Its environment is empty. */
  argv: readonly [string, ...string[]];
  /** Absolute paths of what it reads, files or directories: visible to it whatever the sandbox. Systems' libraries are. */
  reads: readonly string[];
}

/** The program of this package. @param url where its compiled file is */
export function defaultHelperCommand(url = new URL("../helper/file-helper.js", import.meta.url)): HelperCommand {
  const file = realpathSync(fileURLToPath(url));
  const reads = new Set<string>();
  addPackage(reads, findAbove(dirname(file), "package.json"));
  return { argv: [process.execPath, ...noInspectorOptions(), file], reads: [...reads] };
}

/** A package and those that it depends on, wherever they are installed. @param manifest the path of its package.json */
function addPackage(reads: Set<string>, manifest: string | undefined): void {
  if (manifest === undefined) return; // optional, or for another platform
  const directory = dirname(realpathSync(manifest));
  if (reads.has(directory)) return;
  reads.add(directory);
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies?: Record<string, string> };
  for (const name of Object.keys(dependencies)) {
    addPackage(reads, findAbove(directory, join("node_modules", name, "package.json")));
  }
}

/** A file of this directory or, else, of the nearest one above it. */
function findAbove(directory: string, path: string): string | undefined {
  const file = join(directory, path);
  if (existsSync(file)) return file;
  return dirname(directory) === directory ? undefined : findAbove(dirname(directory), path);
}
