import type { HostInfo } from "@codex/executor-protocol";
import { isWithin } from "@codex/permissions";
import { isWithinPattern } from "./paths.js";

/**
 * Private keys and credentials for other services, below the home directory: no command in a sandbox reads them. What begins
 * with `!` stays readable. Patterns are matched when the sandbox is created; a denied directory also covers what
 * is created in it later. Settings without secrets stay readable, even next to secrets.
 */
const CREDENTIALS: readonly string[] = [
  // Keys and agents.
  "~/.ssh",
  "!~/.ssh/known_hosts",
  "!~/.ssh/config",
  "~/.gnupg",
  "~/.password-store",
  "~/.local/share/keyrings",
  "~/.local/share/kwalletd",
  "~/.config/op",
  "~/.config/sops/age",
  "~/.config/age",
  "~/.config/Bitwarden CLI",
  "~/.lpass",
  "~/.subversion/auth",
  "~/.vnc/passwd",
  "~/.config/borg/keys",
  "~/.config/solana/id.json",
  "~/.ethereum/keystore",
  "~/.bitcoin",
  "~/.electrum/wallets",
  "~/.near-credentials",
  "~/.Xauthority",
  "~/.local/share/atuin/key",
  "~/Library/Keychains",
  // Clouds and clusters.
  "~/.aws/credentials",
  "~/.aws/sso/cache",
  "~/.aws/cli/cache",
  "~/.aws/login/cache",
  "~/.config/gcloud",
  "~/.azure",
  "~/.oci",
  "~/.kube",
  "~/.minikube/profiles",
  "~/.docker/config.json",
  "~/.docker/contexts",
  "~/.docker/machine",
  "~/.docker/*.pem",
  "~/.config/containers/auth.json",
  "/run/containers/*/auth.json",
  "/run/user/*/containers/auth.json",
  "~/.config/helm/registry/config.json",
  "~/.config/argocd",
  "~/.argocd/config",
  "~/.chef",
  "~/.ngrok2",
  "~/.circleci/cli.yml",
  "~/.twilio-cli",
  "~/.config/nats/context",
  "~/.config/doctl",
  "~/.config/hcloud",
  "~/.config/scw",
  "~/.config/linode-cli",
  "~/.fly",
  "~/.cloudflared",
  "~/.wrangler",
  "~/.config/.wrangler",
  "~/.config/netlify",
  "~/.local/share/com.vercel.cli",
  "~/.config/configstore",
  "~/.config/turborepo",
  "~/.railway",
  "~/.supabase/access-token",
  "~/.sentryclirc",
  "~/.config/ngrok",
  "~/.terraform.d/credentials.tfrc.json",
  "~/.terraformrc",
  "~/.pulumi/credentials.json",
  "~/.vault-token",
  "~/.s3cfg",
  "~/.mc/config.json",
  "~/.boto",
  "~/.config/rclone",
  "~/.rclone.conf",
  "~/.config/stripe",
  "~/.databrickscfg",
  "~/.snowsql",
  "~/.snowflake",
  // Code hosts.
  "~/.netrc",
  "~/_netrc",
  "~/.authinfo*",
  "~/.git-credentials",
  "~/.config/git/credentials",
  "~/.config/gh/hosts.yml",
  "~/.config/glab-cli",
  "~/.config/hub",
  "~/.config/tea",
  "~/.config/lab",
  "~/.travis/config.yml",
  "~/.config/github-copilot",
  // Packages.
  "~/.npmrc",
  "~/.config/npm/npmrc",
  "~/.jfrog",
  "~/.config/pnpm/rc",
  "~/.config/pnpm/auth.ini",
  "~/.local/share/pnpm/auth.ini",
  "~/.yarnrc.yml",
  "~/.bunfig.toml",
  "~/.pypirc",
  "~/.pip/pip.conf",
  "~/.config/pip/pip.conf",
  "~/.config/pypoetry/auth.toml",
  "~/.local/share/uv/credentials",
  "~/.cargo/credentials",
  "~/.cargo/credentials*",
  "~/.gem/credentials",
  "~/.local/share/gem/credentials",
  "~/.bundle/config",
  "~/.m2/settings.xml",
  "~/.m2/settings-security.xml",
  "~/.gradle/gradle.properties",
  "~/.ivy2/.credentials",
  "~/.sbt/.credentials",
  "~/.nuget/NuGet",
  "~/.config/NuGet",
  "~/.composer/auth.json",
  "~/.config/composer/auth.json",
  "~/.hex/hex.config",
  // Databases and mail.
  "~/.pgpass",
  "~/.pg_service.conf",
  "~/.my.cnf",
  "~/.mylogin.cnf",
  "~/.dbt/profiles.yml",
  "~/.msmtprc",
  "~/.config/msmtp",
  "~/.mbsyncrc",
  "~/.fetchmailrc",
  "~/.smbcredentials",
  "~/.offlineimaprc",
  "~/.weechat/sec.conf",
  "~/.config/filezilla",
  // Models and data.
  "~/.codex/auth.json",
  "~/.claude/.credentials.json",
  "~/.claude.json",
  "~/.gemini/oauth_creds.json",
  "~/.qwen/oauth_creds.json",
  "~/.config/cursor/auth.json",
  "~/.config/goose/secrets.yaml",
  "~/.aider.conf.yml",
  "~/.continue/config.json",
  "~/.local/share/jupyter/runtime",
  "~/.local/share/opencode/auth.json",
  "~/.cache/huggingface/token",
  "~/.cache/huggingface/stored_tokens",
  "~/.huggingface/token",
  "~/.kaggle/kaggle.json",
  "~/.modal.toml",
  "~/.config/kaggle",
  // Browsers.
  "~/.mozilla",
  "~/.thunderbird",
  "~/.config/google-chrome",
  "~/.config/chromium",
  "~/.config/BraveSoftware",
  "~/.config/microsoft-edge",
];

/**
 * Sockets through which a command with network access could make other programs act outside the sandbox, and the FIFO of
 * System V init, which a read-only file system does not block.
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

/** Default of `denyRead`. */
export const DEFAULT_DENY_READ: readonly string[] = [...CREDENTIALS, ...CONTROLS];

/** A denied path or pattern on a host: absolute, with `~` replaced. */
export interface DeniedRead {
  /** The entry as it was written in the settings. */
  source: string;
  /** Absolute. */
  path: string;
  isPattern: boolean;
  /** Paths in it that stay readable; empty for a pattern. */
  except: readonly string[];
}

/** Marks a path that stays readable although an earlier entry of the list denies a directory that contains it. */
export const EXCEPTION = "!";

/** Whether a path, absolute and normalized, is or lies in something denied. */
export function isDeniedRead({ path, isPattern, except }: DeniedRead, candidate: string): boolean {
  const isInside = isPattern ? isWithinPattern(candidate, path) : isWithin(candidate, path);
  return isInside && !except.some((one) => isWithin(candidate, one));
}

/**
 * The denied paths and patterns on a host. Of two entries for the same path, the later counts. An entry below the home directory
 * also names the paths that the environment of the host replaces it with.
 * @param host without it, entries that begin with `~` cannot be resolved and are left out.
 */
export function resolveDenyRead(
  sources: readonly string[],
  host: Pick<HostInfo, "home" | "movedPaths"> | undefined,
): DeniedRead[] {
  let denied: DeniedRead[] = [];
  for (const source of sources) {
    const isException = source.startsWith(EXCEPTION);
    const written = isException ? source.slice(EXCEPTION.length) : source;
    for (const { path, isPattern } of locate(written, host)) {
      if (isException) denied = denied.flatMap((one) => exceptFrom(one, path));
      else denied.push({ source, path, isPattern, except: [] });
    }
  }
  return denied;
}

function exceptFrom(one: DeniedRead, path: string): DeniedRead[] {
  if (one.isPattern) return [one];
  if (isWithin(one.path, path)) return [];
  return [isWithin(path, one.path) ? { ...one, except: [...one.except, path] } : one];
}

type Location = Pick<DeniedRead, "path" | "isPattern">;

/** Where an entry is on a host: below the home directory, and where its environment puts that instead. */
function locate(source: string, host: Pick<HostInfo, "home" | "movedPaths"> | undefined): readonly Location[] {
  const isPattern = /[*?[\]]/.test(source);
  if (source !== "~" && !source.startsWith("~/")) return [{ path: source, isPattern }];
  if (host === undefined) return [];
  const { home, movedPaths = {} } = host;
  const below = (directory: string, rest: string) => {
    const path = `${isPattern ? escapePattern(directory) : directory}${rest}`;
    return { path: path.startsWith("//") ? path.slice(1) : path || "/", isPattern };
  };
  const moved = Object.entries(movedPaths).flatMap(([place, paths]) => {
    if (isWithin(source, place)) {
      return paths
        .filter((path) => source !== place || isNarrow(path, home))
        .map((path) => below(path, source.slice(place.length)));
    }
    const isCovered = isPattern ? isWithinPattern(place, source) : isWithin(place, source);
    return isCovered ? paths.filter((path) => isNarrow(path, home)).map((path) => ({ path, isPattern: false })) : [];
  });
  const all = [below(home, source.slice(1)), ...moved];
  return all.filter(({ path }, at) => all.findIndex((one) => one.path === path) === at);
}

/** Whether a path can be denied as a whole: denying the home directory, or a directory of the system, would stop every command. */
const isNarrow = (path: string, home: string): boolean => !isWithin(home, path) && path.lastIndexOf("/") > 0;

/** A pattern that matches a path. A brace, which brackets do not quote, becomes any character. */
const escapePattern = (path: string): string => path.replace(/[*?[]/g, "[$&]").replaceAll("{", "?");

/** Paths that stay readable in something denied. */
export const listReadable = (denied: readonly DeniedRead[]): string[] =>
  [...new Set(denied.flatMap(({ except }) => except))].filter((path) => !denied.some((one) => isDeniedRead(one, path)));
