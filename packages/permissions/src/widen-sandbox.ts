import type { OutsideProfile, Sandbox } from "@codex/executor-protocol";
import { isWithin } from "./paths.js";
import { getEntryPaths } from "./sandbox-entry.js";

/** The sandbox of a program outside of its command's: what that one allows and denies, and what the profile adds. Null for none. Pure. */
export function widenSandbox(sandbox: Sandbox, profile: OutsideProfile): Sandbox | null {
  if (profile === "unrestricted") return null;
  const { permissions } = sandbox;
  if (permissions.type === "disabled") return sandbox;
  if (profile === "network") return { ...sandbox, permissions: { ...permissions, network: "enabled" } };
  if (permissions.type === "external" || permissions.file_system.type === "unrestricted") return sandbox;
  const added = profile.write.map((path) => ({ path: { type: "path", path } as const, access: "write" as const }));
  const file_system = { ...permissions.file_system, entries: [...permissions.file_system.entries, ...added] };
  return { ...sandbox, permissions: { ...permissions, file_system } };
}

/** Whether a path is, or may be, in something that a sandbox denies, so that an entry for it would open it. Undefined: it denies everything. Pure. */
export function opensDenied(path: string, sandbox: Sandbox | undefined): boolean {
  if (sandbox === undefined) return true;
  const { permissions } = sandbox;
  if (permissions.type !== "managed" || permissions.file_system.type === "unrestricted") return false;
  return permissions.file_system.entries.some((entry) => {
    if (entry.access !== "deny") return false;
    if (entry.path.type === "glob_pattern") return isWithin(path, fixedPart(entry.path.pattern));
    const denied = getEntryPaths(entry, sandbox, { temporaryDirectories: [] });
    return denied === undefined || denied.some((one) => isWithin(path, one));
  });
}

/** The directories of a pattern before the first part that is one. */
const fixedPart = (pattern: string): string => pattern.replace(/\/[^/]*[*?[{].*$/s, "") || "/";
