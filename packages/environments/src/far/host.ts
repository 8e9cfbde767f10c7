import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { type Channel, RpcError } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-backend";
import type { RemoteEnvironmentInfo, RemoteFileSystem } from "@codex/exec-server-client";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import type { HostInfo } from "@codex/executor-protocol";
import type { EnvironmentInfo } from "../environment.js";

/** A host that lacks tools, for an executor that has them. */
export interface ToollessHost {
  /** Processes of one executor: closing it ends them. */
  createBackend(): ExecBackend;
  readonly host: HostInfo;
  /** Resolves links in a path of that host. */
  resolvePath(path: string): Promise<string>;
}

/**
 * Starts an executor in this process whose programs run on that host. Closing the channel ends the executor. Handed in by who
 * has `@codex/executor`.
 */
export type HostTools = (host: ToollessHost) => Channel;

/** What an exec-server says of its host; paths become native. */
export function toEnvironmentInfo({ shell, cwd, userHomeDir, platformOs }: RemoteEnvironmentInfo): EnvironmentInfo {
  return { os: toNodePlatform(platformOs), shell, cwd: toPath(cwd ?? userHomeDir), home: toPath(userHomeDir) };
}

/** The protocol reports neither architecture nor user. */
export const toHostInfo = (info: EnvironmentInfo): HostInfo => ({ ...info, arch: "", user: "" });

/** Also resolves paths that do not exist yet. @throws Error for a dangling link, whose target may appear later */
export async function resolveRemotePath(
  files: Pick<RemoteFileSystem, "canonicalize" | "getMetadata">,
  path: string,
): Promise<string> {
  const real = await unlessMissing(files.canonicalize(path));
  if (real !== undefined) return toPath(real);
  if ((await unlessMissing(files.getMetadata(path, { followSymlinks: false }))) !== undefined) {
    throw new Error(`\`${path}\` is a link that leads to nothing`);
  }
  const parent = posix.dirname(path);
  return parent === path ? path : posix.join(await resolveRemotePath(files, parent), posix.basename(path));
}

async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RpcError && error.code === ERROR_CODES.notFound) return undefined;
    throw error;
  }
}

const toPath = (location: string | null | undefined): string => {
  if (location == null) return "/";
  return location.startsWith("file:") ? fileURLToPath(location) : location;
};

const toNodePlatform = (os: string | null | undefined): string => (os === "macos" ? "darwin" : (os ?? "linux"));
