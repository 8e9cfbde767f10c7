import { isWithin } from "@codex/permissions";
import { getEnvironment } from "../profile/environment.js";
import type { ProfileEntry, RestrictedFiles, SandboxProfile } from "../profile/profile.js";

export interface BubblewrapCommand {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** `new`: detached from any terminal. `keep`: the program before it in argv detaches it. */
  session: "new" | "keep";
  /** argv[0] as the program sees it; bubblewrap 0.9 and newer. */
  argv0?: string;
}

/** Descriptor numbers in bubblewrap, and what it reads from or writes to them. */
export interface BubblewrapDescriptors {
  /** The options of `renderBubblewrap`, each followed by NUL. */
  options: number;
  seccomp: number;
  status: number;
  /** Bubblewrap waits for a byte on it after all mounts are made, before the program starts. */
  gate?: number;
  /** Descriptors of resolved paths, by path; other paths are mounted by name. */
  sources?: ReadonlyMap<string, number>;
  /** What is read instead of the host's file at this path. */
  resolver?: { readonly path: string; readonly descriptor: number };
}

/**
 * The arguments of `bwrap` for a command, and the options that it reads from a descriptor, so that the environment is not
 * visible in the list of processes.
 */
export function renderBubblewrap(
  command: BubblewrapCommand,
  profile: SandboxProfile,
  descriptors: BubblewrapDescriptors,
): { args: string[]; options: Buffer } {
  const options = [
    // Ends with its parent, and kills every process inside.
    "--die-with-parent",
    ...[
      "--unshare-user",
      "--unshare-pid",
      "--unshare-ipc",
      ...(profile.network === "restricted" ? ["--unshare-net"] : []),
    ],
    ...["--cap-drop", "ALL"],
    ...renderFiles(profile, descriptors),
    ...["--seccomp", String(descriptors.seccomp), "--json-status-fd", String(descriptors.status)],
    ...(descriptors.gate === undefined ? [] : ["--block-fd", String(descriptors.gate)]),
    ...(command.session === "new" ? ["--new-session"] : []),
    ...(command.argv0 === undefined ? [] : ["--argv0", command.argv0]),
    ...["--chdir", command.cwd, "--clearenv"],
    ...Object.entries(getEnvironment(command.env, profile)).flatMap(([name, value]) => ["--setenv", name, value]),
  ];
  return {
    args: ["--args", String(descriptors.options), "--", ...command.argv],
    options: Buffer.from(options.map((option) => `${option}\0`).join("")),
  };
}

const renderResolver = ({ resolver }: BubblewrapDescriptors): string[] =>
  resolver === undefined ? [] : ["--ro-bind-data", String(resolver.descriptor), resolver.path];

function renderFiles({ fileSystem }: SandboxProfile, descriptors: BubblewrapDescriptors): string[] {
  const resolver = renderResolver(descriptors);
  if (fileSystem === "unrestricted") return ["--dev-bind", "/", "/", "--proc", "/proc", ...CLOSED_INIT, ...resolver];
  const { sources = new Map() } = descriptors;
  const mounted = fileSystem.entries.filter((entry, _at, all) => isMounted(entry, all));
  return [
    ...renderRoot(fileSystem),
    ...mounted.flatMap((entry) => renderEntry(entry, mounted, sources)),
    ...resolver,
    ...renderEnd(fileSystem),
  ];
}

function renderRoot({ entries, minimal }: RestrictedFiles): string[] {
  const root = entries.find(({ path }) => path === "/");
  const base =
    root === undefined || root.access === "deny"
      ? ["--tmpfs", "/", ...(minimal ? renderMinimal() : [])]
      : [root.access === "write" ? "--bind" : "--ro-bind", "/", "/"];
  // The host's own /dev and /proc give access beyond this sandbox.
  return [
    ...base,
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    ...CLOSED_INIT,
    ...KERNEL_SETTINGS.flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

/** A process that can write to the memory of the init process could keep it alive when the wrapper dies. */
const CLOSED_INIT = ["--ro-bind", "/dev/null", "/proc/1/mem", "--perms", "0555", "--tmpfs", "/proc/1/task"];

/**
 * A fresh /proc contains the settings of the shared kernel, which belong to user 0: that user can write them without any capability.
 * Bubblewrap protects them only if it could write these directories itself, which it cannot.
 */
const KERNEL_SETTINGS = [
  "/proc/sys",
  "/proc/sysrq-trigger",
  "/proc/irq",
  "/proc/bus",
  "/proc/fs",
  "/proc/mtrr",
  "/proc/scsi",
];

/** Paths that `minimal` makes readable, as in Codex: programs, libraries and their settings. */
export const MINIMAL_PATHS = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/etc",
  "/nix/store",
  "/run/current-system/sw",
];

const renderMinimal = (): string[] => MINIMAL_PATHS.flatMap((path) => ["--ro-bind-try", path, path]);

/**
 * The root is created first. Nothing of the host's /proc is visible, so in the fresh one only denied paths are mounted, except
 * those of processes, whose numbers differ. For the fresh /dev see `isMountedDevice`.
 */
export function isMounted(entry: ProfileEntry, entries: readonly ProfileEntry[]): boolean {
  const { path, access } = entry;
  if (path === "/") return false;
  if (isWithin(path, "/proc")) return access === "deny" && !/^\/proc\/\d/.test(path);
  return !isWithin(path, "/dev") || isMountedDevice(entry, entries);
}

/** A device that may be read is that of the fresh /dev: mounted read-only it could not be opened. */
const isMountedDevice = ({ path, access }: ProfileEntry, entries: readonly ProfileEntry[]): boolean =>
  access !== "read" ||
  isShared(path) ||
  entries.some((outer) => outer.access === "write" && isWithin(outer.path, "/dev") && isWithin(path, outer.path));

/** Paths below /dev that are not devices: ordinary files. */
const isShared = (path: string): boolean => SHARED.some((directory) => isWithin(path, directory));
const SHARED = ["/dev/shm", "/dev/mqueue", "/dev/hugepages"];

/** Whether it has to be mounted with its devices, which depends on the path alone. */
const isDevice = (path: string): boolean => isWithin(path, "/dev") && !isShared(path);

/** Whether a path shows nothing of the host except what an entry mounts there. */
export const isFresh = (path: string): boolean => isWithin(path, "/dev") || isWithin(path, "/proc");

/** The paths of the host that are mounted as they are. */
export const listSources = ({ fileSystem }: SandboxProfile): string[] =>
  fileSystem === "unrestricted"
    ? []
    : fileSystem.entries
        .filter((entry) => isMounted(entry, fileSystem.entries) && entry.access !== "deny" && !isEmptyDirectory(entry))
        .filter(({ mirrored }) => mirrored === undefined)
        .filter(({ path }) => !isDevice(path))
        .map(({ path }) => path);

/** Nothing of the host is mounted on it. */
export const isEmptyDirectory = ({ missing, kind, mirror }: ProfileEntry): boolean =>
  mirror !== undefined || (missing === true && kind === "directory");

function renderEntry(
  entry: ProfileEntry,
  mounted: readonly ProfileEntry[],
  sources: ReadonlyMap<string, number>,
): string[] {
  const { path, access, kind } = entry;
  const bind = (option: string) => {
    const source = sources.get(path);
    return source === undefined ? [option, path, path] : [`${option}-fd`, String(source), path];
  };
  if (access === "write") return isDevice(path) ? ["--dev-bind", path, path] : bind("--bind");
  if (access === "deny") {
    // A device on a mount without devices: it cannot be opened.
    if (kind === "file") return ["--ro-bind", "/dev/null", path];
    // Entries inside that allow access must be reachable.
    const hasInner = mounted.some((inner) => inner.path !== path && isWithin(inner.path, path));
    return ["--perms", entry.empty ? "0555" : hasInner ? "0111" : "0000", "--tmpfs", path];
  }
  if (entry.mirrored) return ["--ro-bind-try", path, path];
  if (!isEmptyDirectory(entry)) return bind("--ro-bind");
  const links = entry.mirror?.flatMap(({ name, target }) => ["--symlink", target, `${path}/${name}`]) ?? [];
  return ["--perms", "0555", "--tmpfs", path, ...links];
}

/** Directories that replace others become read-only once everything inside is mounted. */
function renderEnd({ entries }: RestrictedFiles): string[] {
  const bare = !entries.some(({ path, access }) => path === "/" && access !== "deny");
  const closed = entries.filter(
    (entry) =>
      isMounted(entry, entries) && entry.kind === "directory" && (entry.access === "deny" || isEmptyDirectory(entry)),
  );
  return [...closed.map(({ path }) => path), ...(bare ? ["/"] : [])].flatMap((path) => ["--remount-ro", path]);
}
