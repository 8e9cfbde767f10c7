import type { Sandbox } from "@codex/executor-protocol";
import { describeEntry } from "@codex/permissions";

/** Summarizes what a sandbox permits. */
export function describeSandbox(sandbox: Sandbox | null): string {
  const permissions = sandbox?.permissions;
  if (sandbox === null || permissions === undefined || permissions.type === "disabled") {
    return "none: it may write everywhere and use the network";
  }
  const network = permissions.network === "enabled" ? "uses the network" : "no network";
  if (permissions.type === "external") return `restricted by something outside; ${network}`;
  const { file_system: files } = permissions;
  if (files.type === "unrestricted") return `writes everywhere; ${network}`;
  const named = (access: string) => files.entries.filter((entry) => entry.access === access);
  const writes = named("write").flatMap((entry) => describePlaces(entry, sandbox));
  const denied = named("deny").length + named("none").length;
  const unread = denied === 0 ? "" : `; ${denied} ${denied === 1 ? "place" : "places"} not readable`;
  return `writes ${[...new Set(writes)].join(", ") || "nothing"}; ${network}${unread}`;
}

/** Names the paths of an entry; the workspace by its directories. */
function describePlaces(entry: Parameters<typeof describeEntry>[0], { workspaceRoots }: Sandbox): string[] {
  const { path } = entry;
  if (path.type !== "special") return [path.type === "path" ? path.path : describeEntry(entry)];
  const { kind, subpath } = path.value;
  const below = subpath === undefined ? "" : `/${subpath}`;
  if (kind === "project_roots") return (workspaceRoots ?? []).map((root) => `${root}${below}`);
  return [`${SPECIAL_NAMES[kind] ?? kind}${below}`];
}

const SPECIAL_NAMES: Readonly<Record<string, string>> = {
  root: "everything",
  slash_tmp: "/tmp",
  tmpdir: "$TMPDIR",
  current_working_directory: "the directory",
};
