import type { OutsideProfile, Sandbox } from "@codex/executor-protocol";
import { isWithin } from "./paths.js";
import { getEntryPaths, type SandboxEntry } from "./sandbox-entry.js";

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

/**
 * The sandbox with what another one denies denied in it as well. Undefined where an entry of its own would open that again: the most specific
 * entry decides. Pure.
 */
export function denyAlso(sandbox: Sandbox | null, other: Sandbox | null): Sandbox | null | undefined {
  const denied = other === null ? [] : entriesOf(other).filter(({ access }) => access === "deny");
  if (other === null || denied.length === 0) return sandbox;
  if (sandbox === null) return other;
  const { permissions } = sandbox;
  if (permissions.type === "external") return undefined;
  if (permissions.type === "disabled") return other;
  const network = permissions.network;
  if (permissions.file_system.type === "unrestricted") {
    return other.permissions.type === "managed"
      ? { ...other, permissions: { ...other.permissions, network } }
      : undefined;
  }
  const { entries } = permissions.file_system;
  const opened = entries
    .filter(({ access }) => access === "read" || access === "write")
    .flatMap((entry) => getEntryPaths(entry, sandbox, { temporaryDirectories: [] }) ?? []);
  if (opened.some((path) => denied.some((entry) => lifts(path, entry, other)))) return undefined;
  const file_system = { ...permissions.file_system, entries: [...entries, ...denied] };
  return { ...sandbox, permissions: { ...permissions, file_system } };
}

function entriesOf({ permissions }: Sandbox): readonly SandboxEntry[] {
  if (permissions.type !== "managed" || permissions.file_system.type !== "restricted") return [];
  return permissions.file_system.entries;
}

/** Whether an entry for a path would be more specific than one that denies. What a pattern finds is, unless the path itself matches it. */
function lifts(path: string, denied: SandboxEntry, sandbox: Sandbox): boolean {
  if (denied.path.type !== "glob_pattern") {
    const places = getEntryPaths(denied, sandbox, { temporaryDirectories: [] });
    return places === undefined || places.some((place) => isWithin(path, place));
  }
  const { pattern } = denied.path;
  const directory = fixedPart(pattern);
  const name = pattern.slice(pattern.lastIndexOf("/") + 1);
  return path !== directory && isWithin(path, directory) && mayMatch(path.slice(path.lastIndexOf("/") + 1), name);
}

/** Of classes and alternatives anything may match. */
function mayMatch(name: string, pattern: string): boolean {
  if (/[[\]{}]/.test(pattern)) return true;
  const parts = pattern.split(/([*?])/).map((part) => (part === "*" ? ".*" : part === "?" ? "." : escapeText(part)));
  return new RegExp(`^${parts.join("")}$`, "s").test(name);
}

const escapeText = (text: string): string => text.replace(/[\\^$.|+()]/g, "\\$&");

/** The directories of a pattern before the first part that is one. */
const fixedPart = (pattern: string): string => pattern.replace(/\/[^/]*[*?[{].*$/s, "") || "/";
