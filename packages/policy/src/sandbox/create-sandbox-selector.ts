import type { Sandbox } from "@codex/executor-protocol";
import { isWithin, PROTECTED_NAMES, type SandboxEntry } from "@codex/permissions";
import { defined } from "@codex/values";
import { type DeniedRead, isDeniedRead, listReadable, resolveDenyRead } from "./deny-read.js";
import { getGitEntries, toEntry } from "./git-entries.js";
import {
  isBelowHome,
  listDenied,
  listWritten,
  locateEntry,
  locateOpened,
  type ProfilePlaces,
  withProfile,
} from "./profile-entries.js";
import type { SandboxedCommand, SandboxRefusal, SandboxSelector } from "./sandbox-selector.js";
import {
  type CheckedSettings,
  checkSettings,
  type PermissionProfile,
  type SandboxSettings,
} from "./sandbox-settings.js";

/**
 * Creates a selector of sandboxes in the format that Codex sends. The workspace is that of the turn: a command that names
 * another working directory runs there, but does not make it writable.
 * @throws PolicyError
 */
export function createSandboxSelector(settings: SandboxSettings): SandboxSelector {
  const checked = checkSettings(settings);
  return {
    unrestricted: checked.mode === "danger-full-access" && checked.requiredDenyRead.length === 0,
    whenUnavailable: checked.whenUnavailable ?? "refuse",
    deniedReads: (host) => resolveDenied(checked, host),
    select: (command) => selectSandbox(checked, command),
  };
}

/** Pure, except for `gitDirectories`. */
function selectSandbox(settings: CheckedSettings, command: SandboxedCommand): Sandbox | null | SandboxRefusal {
  const { profile } = settings;
  const isOutside = settings.mode === "danger-full-access" || command.bypassSandbox;
  if (isOutside && settings.requiredDenyRead.length === 0 && profile?.entries.some(isDenied) !== true) return null;
  const unplaced = command.host === undefined ? profile?.entries.find(isBelowHome) : undefined;
  if (unplaced !== undefined) {
    return {
      refused: `permission profile \`${profile?.name}\` names paths below ~/, and the home directory there is not known`,
    };
  }
  const required = resolveDenyRead(settings.requiredDenyRead, command.host);
  const roots = command.workspaceRoots ?? (command.host === undefined ? [] : [command.host.cwd]);
  const places = { roots, home: command.host?.home };
  const ofProfile = profile === undefined ? [] : locateOpened(profile, places);
  const lifted = findLifted(ofProfile, required);
  if (lifted !== undefined) return lifted;
  const outside = isOutside ? selectOutside(profile, required, command, places) : undefined;
  if (outside !== undefined) return outside;
  const unfit = findUnfitWorkspace(settings, command);
  if (unfit !== undefined) return unfit;
  const isHome = (root: string) => settings.mode === "workspace-write" && root === settings.codexHome;
  const written = profile === undefined ? [] : listWritten(profile, places);
  const home = [...roots, ...settings.writableRoots, ...written].find(isHome);
  if (home !== undefined) {
    return {
      refused: `\`${home}\` would be writable, and it is CODEX_HOME, where rules and settings are; work in another directory`,
    };
  }
  const denied = resolveDenied(settings, command.host);
  const extra = getExtra(command);
  const asked = [...extra.read, ...extra.write];
  const closed =
    findLifted([...roots, ...settings.writableRoots, ...asked], required) ??
    findClosedByProfile(asked, profile, places) ??
    findClosedRead(extra, denied);
  if (closed !== undefined) return closed;
  const isWorkspace = profile === undefined ? settings.mode === "workspace-write" : profile.base === "workspace";
  const ofMode = [
    special("root", "read"),
    ...(isWorkspace ? getWorkspaceEntries(settings, roots, command.environment) : []),
  ];
  const entries = [
    ...(profile === undefined ? ofMode : withProfile(ofMode, profile, places)),
    ...(settings.codexHome !== undefined && written.some((path) => isWithin(settings.codexHome!, path))
      ? [toEntry(settings.codexHome, "read")]
      : []),
    // Everything is readable except what is denied: a read entry could only make a writable path read-only.
    ...extra.write.map((path) => toEntry(path, "write")),
    ...denied.filter((one) => !isGranted(one, extra)).map(denyEntry),
    ...listReadable(denied).map((path) => toEntry(path, "read")),
  ];
  const globScanMaxDepth = profile?.globScanMaxDepth ?? settings.globScanMaxDepth;
  const mayOpen = profile !== undefined || settings.mode === "workspace-write";
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

/** Everything but what stays denied outside; undefined for a profile that denies all that it does not name, which leaves nothing to open. */
function selectOutside(
  profile: PermissionProfile | undefined,
  required: readonly DeniedRead[],
  { cwd }: SandboxedCommand,
  places: ProfilePlaces,
): Sandbox | undefined {
  const ofProfile = profile === undefined ? [] : listDenied(profile, places);
  if (ofProfile.some((entry) => isDenied(entry) && locateEntry(entry, places).includes("/"))) return undefined;
  const lasting = [...ofProfile, ...required.map(denyEntry)];
  return {
    permissions: {
      type: "managed",
      file_system: {
        type: "restricted",
        entries: [special("root", "write"), ...lasting],
        ...defined({ glob_scan_max_depth: profile?.globScanMaxDepth }),
      },
      network: "enabled",
    },
    cwd: places.roots[0] ?? cwd,
    workspaceRoots: [...places.roots],
  };
}

/**
 * A refusal if the workspace is everything. Without directories of the turn it is the executor's own directory, which was not chosen for
 * that: so it must not contain the home directory, where startup files of other programs are.
 */
function findUnfitWorkspace(
  { mode }: CheckedSettings,
  { workspaceRoots, host }: SandboxedCommand,
): SandboxRefusal | undefined {
  if (mode !== "workspace-write") return undefined;
  const own = workspaceRoots === undefined ? host?.cwd : undefined;
  if (workspaceRoots?.includes("/") === true || own === "/") {
    return { refused: "the workspace is `/`, which is everything; start the turn in a project directory" };
  }
  if (own === undefined || host === undefined || !isWithin(host.home, own)) return undefined;
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

/** A refusal if something is to be opened in what an administrator denies: the nearer of two places would count. */
function findLifted(opened: readonly string[], required: readonly DeniedRead[]): SandboxRefusal | undefined {
  for (const path of opened) {
    const one = required.find((each) => isDeniedRead(each, path));
    if (one !== undefined) return refuseToOpen(path, `\`${one.source}\` of who administers this host`);
  }
  return undefined;
}

/** The same for what a command asks for and its profile denies. */
function findClosedByProfile(
  asked: readonly string[],
  profile: PermissionProfile | undefined,
  places: ProfilePlaces,
): SandboxRefusal | undefined {
  if (profile === undefined || asked.length === 0) return undefined;
  const all = listDenied(profile, places);
  const open = all.filter((entry) => !isDenied(entry)).flatMap((entry) => locateEntry(entry, places));
  const closes = (entry: SandboxEntry, path: string) =>
    entry.path.type === "glob_pattern"
      ? isDeniedRead({ source: "", path: entry.path.pattern, isPattern: true, except: [] }, path)
      : locateEntry(entry, places).some((outer) => isWithin(path, outer));
  const path = asked.find(
    (each) => all.some((entry) => isDenied(entry) && closes(entry, each)) && !open.some((one) => isWithin(each, one)),
  );
  return path === undefined ? undefined : refuseToOpen(path, `permission profile \`${profile.name}\``);
}

const refuseToOpen = (path: string, by: string): SandboxRefusal => ({
  refused: `\`${path}\` would be open, and is denied by ${by}`,
});

const isDenied = ({ access }: { access: string }): boolean => access === "deny";

/** All that its sandboxes deny. */
const resolveDenied = ({ denyRead, requiredDenyRead }: CheckedSettings, host: SandboxedCommand["host"]): DeniedRead[] =>
  resolveDenyRead([...denyRead, ...requiredDenyRead], host);

const denyEntry = ({ path, isPattern }: DeniedRead): SandboxEntry =>
  isPattern ? { path: { type: "glob_pattern", pattern: path }, access: "deny" } : toEntry(path, "deny");

function special(
  kind: Extract<SandboxEntry["path"], { type: "special" }>["value"]["kind"],
  access: SandboxEntry["access"],
  subpath?: string,
): SandboxEntry {
  return { path: { type: "special", value: { kind, ...defined({ subpath }) } }, access };
}
