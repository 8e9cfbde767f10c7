import type { OutsideProfile, Sandbox } from "@codex/executor-protocol";

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
