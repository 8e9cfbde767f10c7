import { isWithinDirectory, isWithinPattern } from "./paths.js";

/**
 * Private keys and credentials of other places, below the home directory: no command reads them in a sandbox. Names
 * that end in a pattern are matched when the sandbox is made. Settings that hold no secrets beside them stay readable.
 */
const CREDENTIALS: readonly string[] = [
  "~/.ssh/id_*",
  "~/.ssh/*.pem",
  "~/.ssh/*.key",
  "~/.gnupg",
  "~/.aws/credentials",
  "~/.aws/sso/cache",
  "~/.aws/cli/cache",
  "~/.config/gcloud",
  "~/.azure",
  "~/.oci",
  "~/.kube/config",
  "~/.docker/config.json",
  "~/.config/doctl",
  "~/.terraform.d/credentials.tfrc.json",
  "~/.vault-token",
  "~/.s3cfg",
  "~/.boto",
  "~/.config/rclone/rclone.conf",
  "~/.config/gh/hosts.yml",
  "~/.config/sops/age",
  "~/.netrc",
  "~/.git-credentials",
  "~/.config/git/credentials",
  "~/.pypirc",
  "~/.cargo/credentials.toml",
  "~/.password-store",
  "~/.local/share/keyrings",
  "~/Library/Keychains",
  "~/.codex/auth.json",
];

/**
 * Sockets by which a command that has the network could have others act for it, outside the sandbox, and the FIFO of
 * System V init, which a read-only file system does not close.
 */
const CONTROLS: readonly string[] = [
  "/run/docker.sock",
  "/run/containerd/containerd.sock",
  "/run/crio/crio.sock",
  "/run/podman/podman.sock",
  "/run/libvirt/libvirt-sock",
  "/run/lxd.socket",
  "/var/snap/lxd/common/lxd/unix.socket",
  "/run/snapd.socket",
  "/run/systemd/private",
  "/run/dbus/system_bus_socket",
  "/run/initctl",
  "/run/user/*/bus",
  "/run/user/*/docker.sock",
  "/run/user/*/podman/podman.sock",
  "/run/user/*/systemd/private",
  "~/.docker/run/docker.sock",
  "~/.docker/desktop/docker.sock",
];

/** What `deny_read` is where nobody says otherwise. */
export const DEFAULT_DENY_READ: readonly string[] = [...CREDENTIALS, ...CONTROLS];

/** What is denied, on a host: absolute, `~` replaced. A name without pattern is a path. */
export interface DeniedRead {
  /** As it was written. */
  source: string;
  /** Absolute. */
  path: string;
  isPattern: boolean;
}

/** Whether a path, absolute and normalized, is or lies in something denied. */
export const isDeniedRead = ({ path, isPattern }: DeniedRead, candidate: string): boolean =>
  isPattern ? isWithinPattern(candidate, path) : isWithinDirectory(candidate, path);

/** @param home absolute; without it what begins with `~` cannot be placed and is left out. */
export function resolveDenyRead(sources: readonly string[], home: string | undefined): DeniedRead[] {
  return sources.flatMap((source) => {
    const below = /^~(\/.*)?$/.exec(source);
    if (below !== null && home === undefined) return [];
    const path = below === null ? source : `${home === "/" ? "" : home}${below[1] ?? ""}`;
    return [{ source, path, isPattern: /[*?[\]]/.test(path) }];
  });
}
