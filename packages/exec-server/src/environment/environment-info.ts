import { homedir, userInfo } from "node:os";
import { posix } from "node:path";
import { detectShell } from "@codex/exec-backend";
import {
  CAPABILITY_NAMES,
  type CapabilityName,
  type EnvironmentCapabilities,
  type EnvironmentInfo,
  toFileUrl,
} from "@codex/exec-server-protocol";
import { getProviderId } from "./provider-id.js";

/** Options of `createEnvironmentInfo`. */
export interface EnvironmentInfoOptions {
  /** Version of Codex that the server is compatible with; clients may compare it. */
  executorVersion: string;
  /** Capabilities beyond `BASE_CAPABILITIES`; all others are false. */
  capabilities?: readonly CapabilityName[];
  /** Default: that of this process. */
  cwd?: string;
  env?: Readonly<Record<string, string | undefined>>;
}

/** Capabilities that this package provides by itself. */
const BASE_CAPABILITIES: readonly CapabilityName[] = ["fsWatchMissing", "httpHeaderEnvVars", "fileWriteStreaming"];

/** Collects the facts about this host that `environment/info` returns. */
export async function createEnvironmentInfo(options: EnvironmentInfoOptions): Promise<EnvironmentInfo> {
  const { executorVersion, capabilities = [], cwd = getDirectory(), env = process.env } = options;
  const temporary = env.TMPDIR === undefined || env.TMPDIR === "" ? undefined : posix.resolve(cwd, env.TMPDIR);
  return {
    shell: detectShell(getUserShell(), env.PATH),
    executorVersion,
    providerId: await getProviderId(),
    cwd: toFileUrl(cwd),
    userHomeDir: toFileUrl(getHome(env)),
    platformOs: PLATFORM_NAMES[process.platform] ?? process.platform,
    prependPathDirs: [],
    temporaryDirectories: temporary === undefined ? [] : [toFileUrl(temporary)],
    tempDir: toFileUrl(temporary ?? "/tmp"),
    capabilities: toCapabilities([...BASE_CAPABILITIES, ...capabilities]),
  };
}

/** A server does not depend on the directory that it was started in, which may have been removed. */
function getDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}

/** The home directory of the environment, else that of the user database. */
export const getHome = (env: Readonly<Record<string, string | undefined>>): string =>
  env.HOME !== undefined && env.HOME !== "" ? posix.resolve(env.HOME) : homedir();

/** `CODEX_HOME` of the environment, else `.codex` in the home directory. */
export const getCodexHome = (env: Readonly<Record<string, string | undefined>>): string =>
  env.CODEX_HOME === undefined || env.CODEX_HOME === ""
    ? posix.join(getHome(env), ".codex")
    : posix.resolve(env.CODEX_HOME);

/** From the passwd database, which has no entry for the user of some containers. */
function getUserShell(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    return undefined;
  }
}

const PLATFORM_NAMES: Partial<Record<NodeJS.Platform, string>> = { darwin: "macos", win32: "windows" };

function toCapabilities(available: readonly CapabilityName[]): EnvironmentCapabilities {
  const capabilities = Object.fromEntries(CAPABILITY_NAMES.map((name) => [name, available.includes(name)]));
  // `fromEntries` forgets the names.
  return capabilities as EnvironmentCapabilities;
}
