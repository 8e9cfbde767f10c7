import type { AgentFiles } from "@codex/agent";
import { createMemoryChannelPair } from "@codex/channel";
import {
  createCommandLink,
  createRemoteEnvironment,
  createWebSocketLink,
  type Environment,
  type EnvironmentLink,
} from "@codex/environments";
import { ExecServerClient } from "@codex/exec-server-client";
import type { AttachedExecutor, Orchestrator } from "@codex/orchestrator";
import { messageOf } from "@codex/telemetry";
import { attachExecutor, type ConnectOptions } from "../connect.js";
import { readCredentials } from "../credentials.js";
import type { ChosenEnvironment } from "../environments.js";
import { parseExecutorAddress, toUrl } from "../executor-address.js";
import { CommandError } from "../exit-codes.js";
import { withoutNodeOptions } from "../node-options.js";
import { startExecutorOver } from "../own-executor.js";
import { createOwnSshLink } from "../ssh-host.js";
import { lazyFiles } from "./lazy-files.js";

/** Where the calls of an agent run: an executor, and the files beside it. */
export interface Place {
  readonly executor: AttachedExecutor;
  readonly files: AgentFiles;
  /** It is this host. */
  readonly isOwn: boolean;
  /** Ends what was opened for it. Idempotent; never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the place that was chosen: an environment, an address, or by default this host. Nothing else takes its place.
 * @throws CommandError when it cannot be reached
 */
export async function openPlace(
  orchestrator: Pick<Orchestrator, "attach">,
  options: ConnectOptions,
  chosen: ChosenEnvironment | undefined,
): Promise<Place> {
  if (chosen !== undefined) {
    const executor = await attachExecutor(orchestrator, chosen.environment.id, options, {}, chosen);
    return { executor, files: chosen.environment.files, isOwn: false, close: () => chosen.close() };
  }
  if (options.executor === undefined) return openOwn(orchestrator, options);
  const environment = openAddress(options.executor, options);
  try {
    const executor = await environment.attach(orchestrator);
    return { executor, files: environment.files, isOwn: false, close: () => environment.close() };
  } catch (cause) {
    await environment.close();
    throw new CommandError(`no executor at ${JSON.stringify(options.executor)}: ${messageOf(cause)}`, 1, { cause });
  }
}

async function openOwn(orchestrator: Pick<Orchestrator, "attach">, options: ConnectOptions): Promise<Place> {
  const executor = await attachExecutor(orchestrator, "local", options);
  const files = lazyFiles(openOwnFiles);
  return { executor, files: files.files, isOwn: true, close: files.close };
}

/** Files of this host as those of any other: through an exec-server, which also holds them in a sandbox. */
async function openOwnFiles() {
  const { createLocalExecServer } = await import("../local-exec-server.js");
  const { server, close } = await createLocalExecServer({});
  const [ours, its] = createMemoryChannelPair();
  void server.serve(its, { transport: { kind: "websocket", peer: "memory" } });
  const client = await ExecServerClient.connectInProcess(ours);
  return {
    files: client.fileSystem,
    async close() {
      await client.close();
      await close();
    },
  };
}

function openAddress(given: string, options: ConnectOptions): Environment {
  const address = parseExecutorAddress(given, "--executor");
  const credentials = readCredentials(options);
  const kind = address.kind === "unix" ? "websocket" : address.kind;
  return createRemoteEnvironment({
    id: "remote",
    kind,
    link: createLink(),
    hostTools: (host) =>
      startExecutorOver({
        ...host,
        createBackend: () => host.createBackend(),
        resolvePath: (path) => host.resolvePath(path),
        close: () => Promise.resolve(),
      }),
  });

  function createLink(): EnvironmentLink {
    if (address.kind === "ssh") return createOwnSshLink(address.address);
    if (address.kind !== "command") return createWebSocketLink({ url: toUrl(address), ...credentials });
    // The user's own command line, parsed by a shell.
    const env = withoutNodeOptions();
    return createCommandLink({
      program: "/bin/sh",
      args: ["-c", address.line],
      hostEnv: env,
      inherit: Object.keys(env),
    });
  }
}
