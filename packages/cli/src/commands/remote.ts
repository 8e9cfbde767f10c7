import { join } from "node:path";
import type { Channel } from "@codex/channel";
import { codexHome } from "@codex/config";
import {
  type CredentialChoice,
  forwardStream,
  openCredential,
  openIdentityFile,
  parseRegistration,
  serveDirectExecutor,
  serveExecutorRelay,
} from "@codex/relay";
import {
  type DrainArguments,
  type OpenedTelemetry,
  openServing,
  openTelemetry,
  readCredentials,
  type TelemetryArguments,
  VERSION,
} from "@codex/servers";
import { type Launch, type LaunchArguments, readLaunch, reportAsCodex } from "@codex/servers/exec-server";
import type { ExecutorCommandOptions } from "@codex/servers/executor";
import { createLocalExecServer } from "@codex/servers/local-exec-server";
import { defined, messageOf } from "@codex/values";
import { CommandError, EXIT } from "../exit-codes.js";
import { say } from "../notice.js";
import { checkRegistryUrl } from "../registry-url.js";
import { runExecutor } from "./executor.js";

export interface RemoteArguments extends CredentialChoice, TelemetryArguments, LaunchArguments, DrainArguments {
  /** Base URL of the registry. */
  remote: string;
  environmentId?: string;
  name?: string;
  label?: string[];
  remoteTransport: "noise" | "direct";
  caFile?: string;
  /** File of the executor's key; created if missing. */
  keyFile?: string;
}

/** `codex exec-server --remote`. Sets the exit code; never rejects. */
export const runRemoteExecServer = (options: RemoteArguments): Promise<void> =>
  reportAsCodex(async () => {
    const telemetry = await openTelemetry("exec-server", options, false);
    const { upstreamForPrivate, watchStdin } = readLaunch(options, telemetry.log);
    const { server, close } = await createLocalExecServer(telemetry, {}, { upstreamForPrivate });
    // The last harness to resume a session gets it: the rendezvous may not have noticed a closed socket.
    const transport = (peer: string) => ({ kind: "socket", peer }) as const;
    const serve = (channel: Channel, peer: string) => void server.serve(channel, { transport: transport(peer) });
    await serveRemotely(options, telemetry, { serve, drain: () => server.drain(), watchStdin }).finally(close);
    await telemetry.close();
  });

/** `codex exec-server forward`: streams go to a server elsewhere. Sets the exit code; never rejects. */
export const runForward = (options: RemoteArguments & { connect: string }): Promise<void> =>
  reportAsCodex(async () => {
    const { connect: destination, remoteTransport, chatgptTokenStdin } = options;
    if (!/^wss?:\/\//.test(destination) || !URL.canParse(destination)) {
      throw new CommandError(`--connect ${JSON.stringify(destination)}: expected ws://HOST:PORT or wss://HOST:PORT`);
    }
    if (remoteTransport === "direct" || chatgptTokenStdin) {
      throw new CommandError("forward excludes --remote-transport direct and --chatgpt-token-stdin", EXIT.usage);
    }
    const telemetry = await openTelemetry("exec-server", options, false);
    const { log } = telemetry;
    const { watchStdin } = readLaunch(options, log);
    const serve = (channel: Channel) => void forwardStream(channel, { destination, log });
    await serveRemotely(options, telemetry, { serve, drain: async () => {}, watchStdin }, true);
    await telemetry.close();
  });

/** `codex executor --remote`. @throws CommandError */
export function runRemoteExecutor(options: RemoteArguments & Omit<ExecutorCommandOptions, "serveOver">): Promise<void> {
  return runExecutor({
    ...options,
    serveOver: (executor, telemetry) => {
      const served = {
        serve: (channel: Channel) => void executor.serve(channel),
        drain: (waitMs: number) => executor.drain({ waitMs }),
      };
      return serveRemotely(options, telemetry, served).finally(() => executor.close());
    },
  });
}

/** What harnesses are served. */
interface RemotelyServed {
  serve: (channel: Channel, peer: string) => void;
  /** Ends it while harnesses still get the last output; what runs has `waitMs` to end by itself. Never rejects. */
  drain: (waitMs: number) => Promise<void>;
  /** Calls back when stdin has ended, if that is to end it. */
  watchStdin?: Launch["watchStdin"];
}

/** Registers this host, and serves the harnesses admitted by the registry until a signal. @throws CommandError */
async function serveRemotely(
  options: RemoteArguments,
  telemetry: OpenedTelemetry,
  { serve, drain, watchStdin }: RemotelyServed,
  isEager = false,
): Promise<void> {
  checkRegistryUrl("--remote", options.remote);
  const { environmentId, labels } = readRegistration(options);
  const isDirect = options.remoteTransport === "direct";
  if (isDirect !== (options.awsSigv4 === true)) {
    throw new CommandError("--remote-transport direct and --aws-sigv4 need each other", EXIT.usage);
  }
  let stop!: (reason?: Error) => void;
  const stopped = new Promise<Error | undefined>((resolve) => {
    stop = resolve;
  });
  const serving = openServing(telemetry.log, options, []);
  void serving.stopped.then(() => stop());
  const address = { url: options.remote, environmentId };
  const sources = { env: process.env, authFile: join(codexHome(), "auth.json"), stdin: process.stdin, onEnd: stop };
  const { authorize, authorizeSocket } = await openCredential(options, address, sources);
  watchStdin?.(stop);
  const { ca } = readCredentials(defined({ caFile: options.caFile }));
  const common = { registry: { ...address, authorize, ca }, log: telemetry.log };
  const relay = isDirect
    ? serveDirectExecutor({ ...common, authorizeSocket, onStream: (channel) => serve(channel, "direct") })
    : await serveExecutorRelay({
        ...common,
        isEager,
        name: options.name,
        version: VERSION,
        ...(options.keyFile === undefined ? {} : { identity: await openIdentity(options.keyFile) }),
        labels,
        onStream: (channel, { harness }) => serve(channel, harness),
      });
  say(`environment ${environmentId} at ${options.remote}${"fingerprint" in relay ? `, key ${relay.fingerprint}` : ""}`);
  serving.ready(`environment ${environmentId}`);
  const reason = await stopped;
  await drain(serving.drainMs);
  await relay.close();
  serving.close();
  // A credential may have been read from stdin, which would keep this process alive.
  process.stdin.destroy();
  if (reason !== undefined) throw reason;
}

/** @throws CommandError naming the invalid option */
function readRegistration(options: RemoteArguments) {
  try {
    return parseRegistration(options);
  } catch (cause) {
    throw new CommandError(messageOf(cause), EXIT.usage, { cause });
  }
}

/** @throws CommandError naming the option */
async function openIdentity(file: string) {
  try {
    return await openIdentityFile(file);
  } catch (cause) {
    throw new CommandError(`--key-file ${file} cannot be used: ${messageOf(cause)}`, EXIT.failure, { cause });
  }
}
