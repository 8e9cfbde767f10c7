import type { Sandbox } from "@codex/executor-protocol";
import { isWithin } from "./paths.js";
import { getEntryPaths, type NamedPlaces, type SandboxEntry } from "./sandbox-entry.js";

/**
 * The first of these absolute paths that a sandbox does not permit to write; undefined when it permits all. The entry nearest to
 * a path decides. Neither links nor patterns are considered: the host that enforces the sandbox does that.
 */
export function findUnwritable(
  paths: readonly string[],
  sandbox: Sandbox | null,
  places: NamedPlaces = { temporaryDirectories: [] },
): string | undefined {
  if (sandbox === null || sandbox.permissions.type !== "managed") return undefined;
  const { file_system: files } = sandbox.permissions;
  if (files.type === "unrestricted") return undefined;
  const named = files.entries.flatMap((entry) =>
    (getEntryPaths(entry, sandbox, places) ?? []).map((path) => ({ path, access: entry.access })),
  );
  return paths.find((path) => !isWritable(path, named));
}

function isWritable(path: string, named: readonly { path: string; access: SandboxEntry["access"] }[]): boolean {
  let nearest = -1;
  let writable = false;
  for (const { path: root, access } of named) {
    if (!isWithin(path, root) || root.length < nearest) continue;
    writable = access === "write" && (root.length > nearest || writable);
    nearest = root.length;
  }
  return writable;
}
