import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { RpcError } from "@codex/channel";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import type { HostInfo } from "@codex/executor-protocol";
import type { RemoteEnvironmentInfo } from "./remote-environment.js";
import type { RemoteFileSystem } from "./remote-file-system.js";

/**
 * Describes the host of an exec-server as an executor reports its own: paths are native, `os` is a value of `process.platform`.
 * `arch` and `user` are empty, as the protocol reports neither.
 */
export function toHostInfo({ shell, cwd, userHomeDir, platformOs }: RemoteEnvironmentInfo): HostInfo {
  const home = toPath(userHomeDir);
  return { os: toNodePlatform(platformOs), arch: "", shell, cwd: toPath(cwd ?? userHomeDir), home, user: "" };
}

/** Replaces the working directory of a host, when one is given: absolute, `~`, or below the home there (`~/a`, `a`). */
export function withDirectory(host: HostInfo, directory: string | undefined): HostInfo {
  if (directory === undefined) return host;
  return { ...host, cwd: posix.resolve(host.home, directory.replace(/^~(\/|$)/, "")) };
}

/**
 * Resolves the links in an absolute path of the host of an exec-server, even when the path does not exist yet.
 * @throws Error for a dangling link, whose target may appear later; RpcError for other failures of the host
 */
export async function resolveRemotePath(
  files: Pick<RemoteFileSystem, "canonicalize" | "getMetadata">,
  path: string,
): Promise<string> {
  const real = await unlessMissing(files.canonicalize(path));
  if (real !== undefined) return toPath(real);
  const parent = posix.dirname(path);
  if (parent === path) return path;
  // A request without following links fails if a parent is a link, so parents are resolved first.
  const resolved = posix.join(await resolveRemotePath(files, parent), posix.basename(path));
  if (await isLink(files, resolved)) throw new Error(`\`${path}\` is a link that leads to nothing`);
  return resolved;
}

/** A server refuses to describe a link that it must not follow. @throws RpcError for other failures */
async function isLink(files: Pick<RemoteFileSystem, "getMetadata">, path: string): Promise<boolean> {
  try {
    return (await unlessMissing(files.getMetadata(path, { followSymlinks: false }))) !== undefined;
  } catch (error) {
    if (error instanceof RpcError && error.code === ERROR_CODES.invalidRequest) return true;
    throw error;
  }
}

async function unlessMissing<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
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
