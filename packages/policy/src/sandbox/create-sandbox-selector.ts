import type { Sandbox } from "@codex/executor-protocol";
import { isWithin, PROTECTED_NAMES, type SandboxEntry } from "@codex/permissions";
import { defined } from "@codex/values";
import { type DeniedRead, isDeniedRead, listReadable, resolveDenyRead } from "./deny-read.js";
import { getGitEntries, toEntry } from "./git-entries.js";
import { isBelowHome, listWritten, withProfile } from "./profile-entries.js";
import type { SandboxedCommand, SandboxRefusal, SandboxSelector } from "./sandbox-selector.js";
import { type CheckedSettings, checkSettings, type SandboxSettings } from "./sandbox-settings.js";

/**
 * Creates a selector of sandboxes in the format that Codex sends. The workspace is that of the turn: a command that names
 * another working directory runs there, but does not make it writable.
 * @throws PolicyError
 */
export function createSandboxSelector(settings: SandboxSettings): SandboxSelector {
  const checked = checkSettings(settings);
  return {
    unrestricted: checked.mode === "danger-full-access",
    whenUnavailable: checked.whenUnavailable ?? "refuse",
    deniedReads: (host) => resolveDenyRead(checked.denyRead, host),
    select: (command) => selectSandbox(checked, command),
  };
}

/** Pure, except for `gitDirectories`. */
function selectSandbox(settings: CheckedSettings, command: SandboxedCommand): Sandbox | null | SandboxRefusal {
  if (settings.mode === "danger-full-access" || command.bypassSandbox) return null;
  const workspace = findWorkspace(settings, command);
  if ("refused" in workspace) return workspace;
  const isHome = (root: string) => settings.mode === "workspace-write" && root === settings.codexHome;
  const places = { roots: workspace.roots, home: command.host?.home };
  const unplaced = places.home === undefined ? settings.profile?.entries.find(isBelowHome) : undefined;
  if (unplaced !== undefined) {
    return {
      refused: `permission profile \`${settings.profile?.name}\` names paths below ~/, and the home directory there is not known`,
    };
  }
  const written = settings.profile === undefined ? [] : listWritten(settings.profile, places);
  const home = [...workspace.roots, ...settings.writableRoots, ...written].find(isHome);
  if (home !== undefined) {
    return {
      refused: `\`${home}\` would be writable, and it is CODEX_HOME, where rules and settings are; work in another directory`,
    };
  }
  const denied = resolveDenyRead(settings.denyRead, command.host);
  const extra = getExtra(command);
  const closed = findClosedRead(extra, denied);
  if (closed !== undefined) return closed;
  const { roots } = workspace;
  const isWorkspace =
    settings.profile === undefined ? settings.mode === "workspace-write" : settings.profile.base === "workspace";
  const ofMode = [
    special("root", "read"),
    ...(isWorkspace ? getWorkspaceEntries(settings, roots, command.environment) : []),
  ];
  const entries = [
    ...(settings.profile === undefined ? ofMode : withProfile(ofMode, settings.profile, places)),
    ...(settings.codexHome !== undefined && written.some((path) => isWithin(settings.codexHome!, path))
      ? [toEntry(settings.codexHome, "read")]
      : []),
    // Everything is readable except what is denied: a read entry could only make a writable path read-only.
    ...extra.write.map((path) => toEntry(path, "write")),
    ...denied.filter((one) => !isGranted(one, extra)).map(denyEntry),
    ...listReadable(denied).map((path) => toEntry(path, "read")),
  ];
  const globScanMaxDepth = settings.profile?.globScanMaxDepth ?? settings.globScanMaxDepth;
  const mayOpen = settings.profile !== undefined || settings.mode === "workspace-write";
  const network = extra.network || (mayOpen && settings.networkAccess === true);
  return {
    permissions: {
      type: "managed",
      file_system: {
        type: "restricted",
        entries,
        ...defined({ glob_scan_max_depth: globScanMaxDepth }),
      },
      network: network ? "enabled" : "restricted",
    },
    cwd: roots[0] ?? command.cwd,
    workspaceRoots: [...roots, ...settings.writableRoots],
  };
}

/**
 * The directories of the turn. Without any, the executor's own directory is used, which was not chosen for that: so it
 * must not contain the home directory, where startup files of other programs are.
 */
function findWorkspace(
  { mode }: CheckedSettings,
  { workspaceRoots, host }: SandboxedCommand,
): { roots: readonly string[] } | SandboxRefusal {
  const roots = workspaceRoots ?? (host === undefined ? [] : [host.cwd]);
  if (mode !== "workspace-write") return { roots };
  if (roots.includes("/")) {
    return { refused: "the workspace is `/`, which is everything; start the turn in a project directory" };
  }
  const [own] = workspaceRoots === undefined ? roots : [];
  if (own === undefined || host === undefined || !isWithin(host.home, own)) return { roots };
  const how = "name a project directory as the directory of the turn";
  return {
    refused: `no workspace was named, and the executor was started in \`${own}\`, which contains the home directory; ${how}`,
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

/** Whether CODEX_HOME is in a writable directory: then it needs a read entry, as the executor may not protect it by itself. */
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

/** Whether exactly this path was requested; a request for a directory above it does not lift the denial. */
const isGranted = ({ path }: DeniedRead, { read, write }: ExtraPermissions): boolean =>
  read.includes(path) || write.includes(path);

/** A refusal if a requested path is within a denied one, which could only be opened as a whole. */
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
  return { path: { type: "special", value: { kind, ...defined({ subpath }) } }, access };
}
