import { isWithin } from "@codex/permissions";
import type { ProfileEntry, RestrictedFiles, SandboxProfile } from "../profile/profile.js";

/**
 * The same profile for macOS `sandbox-exec`, in which the last matching rule wins. Paths are passed as parameters, so that
 * nothing in a name is interpreted as part of the profile.
 * @param proxyPort the only port that is reached where the network is closed
 */
export function renderSeatbelt(
  { fileSystem, network }: SandboxProfile,
  proxyPort?: number,
): { profile: string; parameters: string[] } {
  const parameters: string[] = [];
  const name = (path: string): string => {
    parameters.push(`P${parameters.length}=${path}`);
    return `(param "P${parameters.length - 1}")`;
  };
  const lines = [
    ...BASE,
    ...(fileSystem === "unrestricted" ? ["(allow file*)"] : renderFiles(fileSystem, name)),
    ...(network === "enabled" ? NETWORK : []),
    ...(proxyPort === undefined ? [] : renderProxy(proxyPort)),
  ];
  return { profile: `${lines.join("\n")}\n`, parameters };
}

/** What every program needs apart from the user's files and the network. */
const BASE = [
  "(version 1)",
  "(deny default)",
  "(allow process-exec)",
  "(allow process-fork)",
  "(allow signal (target same-sandbox))",
  "(allow process-info* (target same-sandbox))",
  "(allow sysctl-read)",
  "(allow pseudo-tty)",
  "(allow ipc-posix-sem)",
  "(allow ipc-posix-shm-read-data ipc-posix-shm-write-create ipc-posix-shm-write-unlink)",
  '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.bsd.dirhelper") ' +
    '(global-name "com.apple.system.logger") (global-name "com.apple.PowerManagement.control"))',
  "(allow user-preference-read)",
  '(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))',
];

/** Services that check certificates, without which no TLS client works. */
const CERTIFICATES =
  '(allow mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.trustd.agent") (global-name "com.apple.ocspd"))';

const renderProxy = (port: number): string[] => [
  `(allow network-outbound (remote ip "localhost:${port}"))`,
  "(allow system-socket)",
  CERTIFICATES,
];

const NETWORK = [
  "(allow network*)",
  // Servers at Unix sockets act for their clients; name resolution alone needs one.
  "(deny network-outbound (remote unix-socket))",
  '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
  "(allow system-socket)",
  '(allow mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.networkd") ' +
    '(global-name "com.apple.trustd.agent") (global-name "com.apple.ocspd") ' +
    '(global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.SystemConfiguration.configd"))',
];

/** Devices of every program, as in the fresh /dev on Linux. */
const DEVICES = ["null", "zero", "random", "urandom", "tty", "dtracehelper", "ptmx", "fd", "stdin", "stdout", "stderr"]
  .map((device) => `(literal "/dev/${device}")`)
  .join(" ");

const MINIMAL = [
  "/usr",
  "/bin",
  "/sbin",
  "/System",
  "/Library/Apple",
  "/private/etc",
  "/private/var/db/dyld",
  "/opt/homebrew",
]
  .map((path) => `(subpath "${path}")`)
  .join(" ");

function renderFiles({ entries, minimal }: RestrictedFiles, name: (path: string) => string): string[] {
  return [
    '(allow file-read* (literal "/"))',
    ...(minimal ? [`(allow file-read* ${MINIMAL})`] : []),
    ...entries.filter(({ pin }) => !pin).flatMap((entry) => renderEntry(entry, name)),
    ...renderPinnedNames(entries, name),
    `(allow file-read* file-write-data file-ioctl ${DEVICES} (regex #"^/dev/ttys[0-9]+$"))`,
  ];
}

function renderEntry({ path, access, kind, missing }: ProfileEntry, name: (path: string) => string): string[] {
  const place = `(${kind === "file" && !missing ? "literal" : "subpath"} ${name(path)})`;
  if (access === "deny") return [`(deny file-read* file-write* ${place})`];
  if (access === "read") return [`(allow file-read* ${place})`, `(deny file-write* ${place})`];
  return [`(allow file-read* file-write* ${place})`];
}

/** A directory above a protected path cannot be renamed: that would move the path out of its rule. */
function renderPinnedNames(entries: readonly ProfileEntry[], name: (path: string) => string): string[] {
  return entries
    .filter(({ path, pin }) => pin || entries.some((inner) => inner.access !== "write" && isWithin(inner.path, path)))
    .filter(({ path, access }) => access === "write" && path !== "/")
    .map(({ path }) => `(deny file-write-unlink (literal ${name(path)}))`);
}
