import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Channel } from "@codex/channel";
import { codexHome } from "@codex/config";
import { type CredentialChoice, openCredential, serveDirectExecutor, serveExecutorRelay } from "@codex/relay";
import { messageOf } from "@codex/telemetry";
import { CommandError, EXIT } from "../exit-codes.js";
import { onStopSignal } from "../host-process.js";
import { createLocalExecServer } from "../local-exec-server.js";
import { say } from "../notice.js";
import { type OpenedTelemetry, openTelemetry, type TelemetryArguments } from "../open-telemetry.js";
import { type ExecutorCommandOptions, runExecutor } from "./executor.js";

export interface RemoteArguments extends CredentialChoice, TelemetryArguments {
  /** Base URL of the registry. */
  remote: string;
  environmentId?: string;
  name?: string;
  label?: string[];
  remoteTransport: "noise" | "direct";
  useAgentIdentityAuth?: boolean;
  caFile?: string;
}

/** `codex exec-server --remote`. Sets the exit code; never rejects. */
export async function runRemoteExecServer(options: RemoteArguments): Promise<void> {
  try {
    const telemetry = await openTelemetry("exec-server", options, false);
    const { server, close } = await createLocalExecServer(telemetry);
    // A session goes to the harness that resumes it last: the rendezvous may not have noticed that a socket is gone.
    const serve = (channel: Channel, peer: string) =>
      void server.serve(channel, { transport: { kind: "socket", peer } });
    try {
      await serveRemotely(options, telemetry, serve);
    } finally {
      await close();
      await telemetry.close();
    }
  } catch (error) {
    process.stderr.write(`Error: ${messageOf(error)}\n`);
    process.exitCode = error instanceof CommandError ? error.exitCode : EXIT.failure;
  }
}

/** `codex executor --remote`. @throws CommandError */
export function runRemoteExecutor(options: RemoteArguments & Omit<ExecutorCommandOptions, "serveOver">): Promise<void> {
  return runExecutor({
    ...options,
    serveOver: (executor, telemetry) =>
      serveRemotely(options, telemetry, (channel) => void executor.serve(channel)).finally(() => executor.close()),
  });
}

/** Registers this host, and serves the harnesses that the registry admits, until a signal. @throws CommandError */
async function serveRemotely(
  options: RemoteArguments,
  telemetry: OpenedTelemetry,
  serve: (channel: Channel, peer: string) => void,
): Promise<void> {
  const environmentId = options.environmentId?.trim() ?? "";
  if (!ENVIRONMENT_ID.test(environmentId)) {
    const given = options.environmentId === undefined ? "is needed" : `${JSON.stringify(environmentId)} is not valid`;
    throw new CommandError(`--environment-id ${given}: 1 to 256 letters, digits, - and _`, EXIT.usage);
  }
  if (options.useAgentIdentityAuth) throw new CommandError("--use-agent-identity-auth is not supported", EXIT.usage);
  const isDirect = options.remoteTransport === "direct";
  if (isDirect !== (options.awsSigv4 === true)) {
    throw new CommandError("--remote-transport direct and --aws-sigv4 need each other", EXIT.usage);
  }
  let stop!: (reason?: Error) => void;
  const stopped = new Promise<Error | undefined>((resolve) => {
    stop = resolve;
  });
  onStopSignal(() => stop());
  const address = { url: options.remote, environmentId };
  const sources = { env: process.env, auth: await readAuth(), stdin: process.stdin, onEnd: stop };
  const { authorize, authorizeSocket } = await openCredential(options, address, sources);
  const ca = options.caFile === undefined ? undefined : await readFile(options.caFile);
  const common = { registry: { ...address, authorize, ca }, log: telemetry.log };
  const relay = isDirect
    ? serveDirectExecutor({ ...common, authorizeSocket, onStream: (channel) => serve(channel, "direct") })
    : await serveExecutorRelay({
        ...common,
        name: options.name,
        labels: Object.fromEntries((options.label ?? []).map(readLabel)),
        onStream: (channel, { harness }) => serve(channel, harness),
      });
  say(`environment ${environmentId} at ${options.remote}${"fingerprint" in relay ? `, key ${relay.fingerprint}` : ""}`);
  const reason = await stopped;
  await relay.close();
  if (reason !== undefined) throw reason;
}

const ENVIRONMENT_ID = /^[A-Za-z0-9_-]{1,256}$/;

function readLabel(text: string): [name: string, value: string] {
  const [, name, value] = /^([\w.-]{1,64})=(.{0,256})$/.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new CommandError(`--label ${JSON.stringify(text)}: expected NAME=VALUE`, EXIT.usage);
  }
  return [name, value];
}

/** `auth.json`; undefined where there is none that could be read as JSON. */
async function readAuth(): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(codexHome(), "auth.json"), "utf8"));
  } catch {
    return undefined;
  }
}
