import { fileURLToPath } from "node:url";
import {
  createRemoteBackend,
  type ExecBackend,
  ExecServerClient,
  type RemoteEnvironmentInfo,
} from "@codex/exec-server";
import type { HostInfo } from "@codex/executor-protocol";
import { CommandError, EXIT } from "./exit-codes.js";

/** A host behind an exec-server, ours or Codex's. */
export interface FarHost {
  host: HostInfo;
  /** Processes of one orchestrator; closing it ends them. */
  createBackend: () => ExecBackend;
  close(): Promise<void>;
}

/** @param address `ws://HOST:PORT`, or a command line whose program speaks the protocol on its stdin and stdout. */
export async function connectExecServer(address: string): Promise<FarHost> {
  const client = await connect(address).catch((cause: unknown) => {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`exec-server ${JSON.stringify(address)}: ${detail}`, EXIT.failure, { cause });
  });
  return {
    host: toHostInfo(await client.environment.info()),
    createBackend: () => createRemoteBackend(client),
    close: () => client.close(),
  };
}

function connect(address: string): Promise<ExecServerClient> {
  if (/^wss?:\/\//.test(address)) return ExecServerClient.connectWebSocket(address);
  if (address.trim() === "") throw new CommandError("--exec-server is empty", EXIT.usage);
  return ExecServerClient.spawnLocal({ command: "/bin/sh", args: ["-c", address] });
}

/** The protocol tells neither architecture nor user. */
function toHostInfo({ shell, cwd, userHomeDir, platformOs }: RemoteEnvironmentInfo): HostInfo {
  const home = toPath(userHomeDir);
  return { os: toNodePlatform(platformOs), arch: "", shell, cwd: toPath(cwd ?? userHomeDir), home, user: "" };
}

const toPath = (location: string | null | undefined): string => {
  if (location == null) return "/";
  return location.startsWith("file:") ? fileURLToPath(location) : location;
};

const toNodePlatform = (os: string | null | undefined): string => (os === "macos" ? "darwin" : (os ?? "linux"));
