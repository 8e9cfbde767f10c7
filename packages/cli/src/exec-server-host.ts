import type { ToollessHost } from "@codex/exec-backend";
import {
  createRemoteBackend,
  ExecServerClient,
  resolveRemotePath,
  toHostInfo,
  withDirectory,
} from "@codex/exec-server-client";
import { type Credentials, withoutNodeOptions } from "@codex/servers";
import type { Telemetry } from "@codex/telemetry";
import { type ExecutorAddress, toUrl } from "./executor-address.js";

export interface ExecServerOptions extends Credentials {
  telemetry?: Telemetry | undefined;
  /** The connection was lost and is being restored. */
  onInterrupted?: () => void;
  onResumed?: () => void;
  /** Takes up a session that was left, instead of beginning one. */
  resumeSessionId?: string;
}

/** @throws Error saying why it cannot be used */
export async function connectExecServer(
  address: ExecutorAddress,
  options: ExecServerOptions = {},
): Promise<ToollessHost> {
  const { telemetry } = options;
  const client = await connectClient(address, options);
  const cwd = address.kind === "ssh" ? address.address.cwd : undefined;
  try {
    return {
      host: withDirectory(toHostInfo(await client.environment.describe()), cwd),
      createBackend: () => createRemoteBackend(client, { telemetry }),
      resolvePath: (path) => resolveRemotePath(client.fileSystem, path),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** A client of an exec-server. @throws Error saying why there is none */
export async function connectClient(address: ExecutorAddress, options: ExecServerOptions): Promise<ExecServerClient> {
  if (address.kind === "ssh") return (await import("./ssh-host.js")).connectOverSsh(address.address, options);
  if (address.kind === "command") {
    const server = { command: "/bin/sh", args: ["-c", address.line], env: withoutNodeOptions() };
    return ExecServerClient.spawnLocal(server, options);
  }
  return ExecServerClient.connectWebSocket(toUrl(address), options);
}
