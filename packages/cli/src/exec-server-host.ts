import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { RpcError } from "@codex/channel";
import type { ExecBackend } from "@codex/exec-backend";
import {
  createRemoteBackend,
  ExecServerClient,
  type RemoteEnvironmentInfo,
  type RemoteFileSystem,
} from "@codex/exec-server-client";
import { ERROR_CODES } from "@codex/exec-server-protocol";
import type { HostInfo } from "@codex/executor-protocol";
import type { Telemetry } from "@codex/telemetry";
import type { Credentials } from "./credentials.js";
import { type ExecutorAddress, toUrl } from "./executor-address.js";
import { withoutNodeOptions } from "./node-options.js";

/** A host behind an exec-server, of this project or of Codex. */
export interface RemoteHost {
  host: HostInfo;
  /** Backend for the processes of one orchestrator; closing it ends them. */
  createBackend: () => ExecBackend;
  /** Resolves links in a path of that host. */
  resolvePath(path: string): Promise<string>;
  close(): Promise<void>;
}

export interface ExecServerOptions extends Credentials {
  telemetry?: Telemetry | undefined;
  /** The connection was lost and is being restored. */
  onInterrupted?: () => void;
  onResumed?: () => void;
}

/** @throws Error saying why it cannot be used */
export async function connectExecServer(
  address: ExecutorAddress,
  options: ExecServerOptions = {},
): Promise<RemoteHost> {
  const { telemetry } = options;
  const client = await connect(address, options);
  try {
    return {
      host: withDirectory(toHostInfo(await client.environment.info()), address),
      createBackend: () => createRemoteBackend(client, { telemetry }),
      resolvePath: (path) => resolveRemotePath(client.fileSystem, path),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

async function connect(address: ExecutorAddress, options: ExecServerOptions): Promise<ExecServerClient> {
  if (address.kind === "ssh") return (await import("./ssh-host.js")).connectOverSsh(address.address, options);
  if (address.kind === "command") {
    const server = { command: "/bin/sh", args: ["-c", address.line], env: withoutNodeOptions() };
    return ExecServerClient.spawnLocal(server, options);
  }
  return ExecServerClient.connectWebSocket(toUrl(address), options);
}

/** Also resolves paths that do not exist yet. @throws Error for a dangling link, whose target may appear later */
async function resolveRemotePath(files: RemoteFileSystem, path: string): Promise<string> {
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

/** An ssh address may name a directory: absolute, or `~` and a path below the home there. */
function withDirectory(host: HostInfo, address: ExecutorAddress): HostInfo {
  const cwd = address.kind === "ssh" ? address.address.cwd : undefined;
  return cwd === undefined ? host : { ...host, cwd: posix.resolve(host.home, cwd.replace(/^~(\/|$)/, "")) };
}

/** The protocol reports neither architecture nor user. */
function toHostInfo({ shell, cwd, userHomeDir, platformOs }: RemoteEnvironmentInfo): HostInfo {
  const home = toPath(userHomeDir);
  return { os: toNodePlatform(platformOs), arch: "", shell, cwd: toPath(cwd ?? userHomeDir), home, user: "" };
}

const toPath = (location: string | null | undefined): string => {
  if (location == null) return "/";
  return location.startsWith("file:") ? fileURLToPath(location) : location;
};

const toNodePlatform = (os: string | null | undefined): string => (os === "macos" ? "darwin" : (os ?? "linux"));
