import type { Sandbox } from "@codex/executor-protocol";
import { isWithin, PROTECTED_NAMES, type SandboxEntry } from "@codex/permissions";
import { type DeniedRead, isDeniedRead, listReadable, resolveDenyRead } from "./deny-read.js";
import { getGitEntries, toEntry } from "./git-entries.js";
import type { SandboxedCommand, SandboxRefusal, SandboxSelector } from "./sandbox-selector.js";
import { type CheckedSettings, checkSettings, type SandboxSettings } from "./sandbox-settings.js";

/**
 * Chooses sandboxes in the shape that Codex sends them in. The workspace is that of the turn: a command that names
 * another directory runs there, and does not make it writable.
 * @throws PolicyError
 */
export function createSandboxSelector(settings: SandboxSettings): SandboxSelector {
  const checked = checkSettings(settings);
  return {
    unrestricted: checked.mode === "danger-full-access",
    whenUnavailable: checked.whenUnavailable ?? "refuse",
    deniedReads: (host) => resolveDenyRead(checked.denyRead, host?.home),
    select: (command) => selectSandbox(checked, command),
  };
}

/** Pure, but for what `gitDirectories` looks at. */
function selectSandbox(settings: CheckedSettings, command: SandboxedCommand): Sandbox | null | SandboxRefusal {
  if (settings.mode === "danger-full-access" || command.bypassSandbox) return null;
  const workspace = findWorkspace(settings, command);
  if ("refused" in workspace) return workspace;
  const isHome = (root: string) => settings.mode === "workspace-write" && root === settings.codexHome;
  const home = [...workspace.roots, ...settings.writableRoots].find(isHome);
  if (home !== undefined) {
    return {
      refused: `\`${home}\` would be writable, and it is CODEX_HOME, where rules and settings are; work in another directory`,
    };
  }
  const denied = resolveDenyRead(settings.denyRead, command.host?.home);
  const extra = getExtra(command);
  const closed = findClosedRead(extra, denied);
  if (closed !== undefined) return closed;
  const { roots } = workspace;
  const entries = [
    special("root", "read"),
    ...(settings.mode === "workspace-write" ? getWorkspaceEntries(settings, roots, command.environment) : []),
    // Everything is readable but for what is denied: an entry for reading could only close what may be written.
    ...extra.write.map((path) => toEntry(path, "write")),
    ...denied.filter((one) => !isGranted(one, extra)).map(denyEntry),
    ...listReadable(denied).map((path) => toEntry(path, "read")),
  ];
  const { globScanMaxDepth } = settings;
  const network = extra.network || (settings.mode === "workspace-write" && settings.networkAccess === true);
  return {
    permissions: {
      type: "managed",
      file_system: {
        type: "restricted",
        entries,
        ...(globScanMaxDepth === undefined ? {} : { glob_scan_max_depth: globScanMaxDepth }),
      },
      network: network ? "enabled" : "restricted",
    },
    cwd: roots[0] ?? command.cwd,
    workspaceRoots: [...roots, ...settings.writableRoots],
  };
}

/**
 * The directories of the turn. Without any, the executor's own directory is used, which nobody has chosen: so it
 * may not hold the home directory, where start-up files of other programs are.
 */
function findWorkspace(
  { mode }: CheckedSettings,
  { workspaceRoots, host }: SandboxedCommand,
): { roots: readonly string[] } | SandboxRefusal {
  const roots = workspaceRoots ?? (host === undefined ? [] : [host.cwd]);
  if (mode !== "workspace-write") return { roots };
  if (roots.includes("/")) {
    return { refused: "the workspace is `/`, which is everything; start the turn in the directory of a project" };
  }
  const [own] = workspaceRoots === undefined ? roots : [];
  if (own === undefined || host === undefined || !isWithin(host.home, own)) return { roots };
  const how = "name the directory of a project as the directory of the turn";
  return {
    refused: `nobody named a workspace, and the executor was started in \`${own}\`, which holds the home directory; ${how}`,
  };
}

function getWorkspaceEntries(settings: CheckedSettings, roots: readonly string[], environment: string): SandboxEntry[] {
  const { writableRoots, excludeSlashTmp, excludeTmpdirEnvVar, allowGitCommit, gitDirectories } = settings;
  const all = [...roots, ...writableRoots];
  const opened = new Map(
    (allowGitCommit === true ? all : []).flatMap((root) => {
      const found = gitDirectories?.(root, environment);
      return found === undefined ? [] : [[root, found] as const];
    }),
  );
  // The same path cannot be open and closed: where one git directory is opened, the others are closed by name.
  const isOpened = (root: string) => opened.get(root)?.gitDirectory === `${root}/.git`;
  const names = all.some(isOpened) ? PROTECTED_NAMES.filter((name) => name !== ".git") : PROTECTED_NAMES;
  const others = all.some(isOpened) ? all.filter((root) => !isOpened(root)) : [];
  return [
    special("project_roots", "write"),
    ...(excludeSlashTmp === true ? [] : [special("slash_tmp", "write")]),
    ...(excludeTmpdirEnvVar === true ? [] : [special("tmpdir", "write")]),
    ...writableRoots.map((root) => toEntry(root, "write")),
    ...names.map((name) => special("project_roots", "read", name)),
    ...others.map((root) => toEntry(`${root}/.git`, "read")),
    ...[...opened.values()].flatMap(getGitEntries),
    ...(isHomeOpen(settings, all) ? [toEntry(settings.codexHome!, "read")] : []),
  ];
}

/** Where its executor does not know of it: an entry for reading closes it. */
function isHomeOpen({ codexHome, excludeSlashTmp }: CheckedSettings, roots: readonly string[]): boolean {
  const open = [...roots, ...(excludeSlashTmp === true ? [] : ["/tmp"])];
  return codexHome !== undefined && open.some((root) => isWithin(codexHome, root));
}

interface ExtraPermissions {
  read: readonly string[];
  write: readonly string[];
  network: boolean;
}

/** Normalized when the call was resolved: absolute paths, every member present. */
function getExtra({ additionalPermissions }: SandboxedCommand): ExtraPermissions {
  const { file_system, network } = (additionalPermissions ?? {}) as {
    file_system?: { read?: string[]; write?: string[] };
    network?: { enabled?: boolean };
  };
  return { read: file_system?.read ?? [], write: file_system?.write ?? [], network: network?.enabled === true };
}

/** What was asked for by its very name is not denied; what is asked for above it lifts nothing. */
const isGranted = ({ path }: DeniedRead, { read, write }: ExtraPermissions): boolean =>
  read.includes(path) || write.includes(path);

/** What is asked for lies in something denied, which would have to be opened as a whole. */
function findClosedRead({ read, write }: ExtraPermissions, denied: readonly DeniedRead[]): SandboxRefusal | undefined {
  for (const path of [...read, ...write]) {
    const closed = denied.find((one) => (one.isPattern || path !== one.path) && isDeniedRead(one, path));
    if (closed === undefined) continue;
    const instead = closed.isPattern ? "" : `ask for \`${closed.path}\` as a whole, or `;
    const refused = `\`${path}\` is denied by \`${closed.source}\`, which extra permissions do not lift in part`;
    return { refused: `${refused}; ${instead}ask for "require_escalated" if the command needs it` };
  }
  return undefined;
}

const denyEntry = ({ path, isPattern }: DeniedRead): SandboxEntry =>
  isPattern ? { path: { type: "glob_pattern", pattern: path }, access: "deny" } : toEntry(path, "deny");

function special(
  kind: Extract<SandboxEntry["path"], { type: "special" }>["value"]["kind"],
  access: SandboxEntry["access"],
  subpath?: string,
): SandboxEntry {
  return { path: { type: "special", value: { kind, ...(subpath === undefined ? {} : { subpath }) } }, access };
}
