import type { Sandbox } from "@codex/executor-protocol";

/** What a restricted sandbox allows or denies at a path, a pattern or a named place. */
export type SandboxEntry = Extract<ManagedFiles, { type: "restricted" }>["entries"][number];
type ManagedFiles = Extract<Sandbox["permissions"], { type: "managed" }>["file_system"];

/** The paths of named places that the sandbox does not specify. */
export interface NamedPlaces {
  /** `tmpdir`. */
  temporaryDirectories: readonly string[];
}

/** The absolute paths that an entry names; undefined when they are not known before the sandbox is created. */
export function getEntryPaths(
  { path }: SandboxEntry,
  sandbox: Sandbox,
  places: NamedPlaces,
): readonly string[] | undefined {
  if (path.type === "glob_pattern") return undefined;
  if (path.type === "path") return [path.path];
  const { kind, subpath } = path.value;
  const bases = getBases(kind, sandbox, places);
  return subpath === undefined ? bases : bases?.map((base) => `${base === "/" ? "" : base}/${subpath}`);
}

function getBases(
  kind: Extract<SandboxEntry["path"], { type: "special" }>["value"]["kind"],
  { cwd, workspaceRoots, temporaryDirectories }: Sandbox,
  places: NamedPlaces,
): readonly string[] | undefined {
  switch (kind) {
    case "root":
      return ["/"];
    case "slash_tmp":
      return ["/tmp"];
    case "current_working_directory":
      return cwd === undefined ? [] : [cwd];
    case "project_roots":
      return workspaceRoots ?? [];
    case "tmpdir":
      return temporaryDirectories ?? places.temporaryDirectories;
    case "minimal":
    case "unknown":
      return undefined;
  }
}

/** The name of an entry in messages. */
export function describeEntry({ path }: SandboxEntry): string {
  if (path.type === "path") return `\`${path.path}\``;
  if (path.type === "glob_pattern") return `pattern \`${path.pattern}\``;
  const { kind, subpath } = path.value;
  return `\`${kind}${subpath === undefined ? "" : `/${subpath}`}\``;
}
