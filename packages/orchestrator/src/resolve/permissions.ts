import type { HostInfo, SandboxPermissions } from "@codex/executor-protocol";
import type { Config } from "../config.js";
import { pathsOf } from "./directory.js";
import type { AdditionalPermissions, ExecCommandArguments } from "./model-arguments.js";
import { type Resolved, rejected } from "./resolved.js";

/** Extra permissions as they go on the wire: absolute paths, sorted, every member present. */
interface NormalizedPermissions extends Record<string, unknown> {
  file_system: { read: string[]; write: string[] };
  network: { enabled: boolean };
}

export interface ResolvedPermissions {
  sandboxPermissions: SandboxPermissions;
  additionalPermissions: NormalizedPermissions | null;
}

/** Checks that the requested permissions are consistent, and may be requested. */
export function resolvePermissions(
  args: ExecCommandArguments,
  cwd: string,
  host: HostInfo | undefined,
  config: Config,
): Resolved<ResolvedPermissions> {
  const sandboxPermissions = args.sandbox_permissions ?? "use_default";
  if (args.permission_profile !== undefined && sandboxPermissions !== "use_default") {
    return rejected("permission_profile", `not allowed with sandbox_permissions "${sandboxPermissions}"`);
  }
  const wantsMore = sandboxPermissions === "with_additional_permissions";
  const additionalPermissions = normalize(args.additional_permissions, cwd, host);
  if (!wantsMore && additionalPermissions !== undefined) {
    const fix = 'set it to "with_additional_permissions", or leave `additional_permissions` out';
    return rejected("additional_permissions", `not allowed with sandbox_permissions "${sandboxPermissions}"; ${fix}`);
  }
  if (args.prefix_rule !== undefined && args.prefix_rule.length > 0 && sandboxPermissions !== "require_escalated") {
    return rejected("prefix_rule", 'only allowed with sandbox_permissions "require_escalated"');
  }
  if (!wantsMore) return { kind: "ok", value: { sandboxPermissions, additionalPermissions: null } };
  if (!config.allowAdditionalPermissions) {
    return rejected("sandbox_permissions", '"with_additional_permissions" is not enabled in this configuration');
  }
  if (additionalPermissions !== undefined) return { kind: "ok", value: { sandboxPermissions, additionalPermissions } };
  const missing = "expected a path in file_system.read or file_system.write, or network.enabled true";
  return rejected("additional_permissions", `nothing is requested: ${missing}`);
}

function normalize(
  asked: AdditionalPermissions | undefined,
  cwd: string,
  host: HostInfo | undefined,
): NormalizedPermissions | undefined {
  const absolute = (paths: readonly string[] | undefined) =>
    [...new Set((paths ?? []).filter((path) => path !== "").map((path) => pathsOf(host).resolve(cwd, path)))].sort();
  const read = absolute(asked?.file_system?.read);
  const write = absolute(asked?.file_system?.write);
  const enabled = asked?.network?.enabled ?? false;
  if (read.length === 0 && write.length === 0 && !enabled) return undefined;
  return { file_system: { read, write }, network: { enabled } };
}
