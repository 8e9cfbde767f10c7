import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Channel } from "@codex/channel";
import { codexHome } from "@codex/config";
import type { Environment } from "@codex/environments";
import { shieldProcess } from "@codex/native";
import {
  type AttachedExecutor,
  connectStdio,
  connectWebSocket,
  OrchestratorError,
  type ProgramRunner,
} from "@codex/orchestrator";
import { type CredentialArguments, type Credentials, readCredentials, withoutNodeOptions } from "@codex/servers";
import { messageOf } from "@codex/values";
import type { ChosenEnvironment } from "./environments.js";
import {
  describeAddress,
  type ExecutorAddress,
  findCommandProblem,
  getProgram,
  type ListenerAddress,
  parseExecutorAddress,
  toUrl,
} from "./executor-address.js";
import { CommandError, EXIT } from "./exit-codes.js";
import { passToTerminal } from "./notice.js";
import type { OwnExecutorOptions } from "./own-executor.js";

export interface ConnectOptions extends CredentialArguments {
  /** As `parseExecutorAddress` reads it; undefined for an environment or an executor in this process. */
  executor?: string;
  /** Id of a configured environment, or an `ssh://` URL. */
  environment?: string;
  /** Base URL of the registry of the environment, which then need not be configured. */
  registry?: string;
  /** With `registry`: labels that the executor must have, each `NAME=VALUE`. */
  label?: readonly string[];
}

/**
 * Connects the environment that a command uses: the named one, else the default if environments are configured.
 * Undefined for `--executor`, and for an executor in this process.
 * @param startsWithoutDefault does not connect the default, which may be `none`
 * @throws CommandError, with this exit code if the environment cannot be used
 */
export async function choosePlace(
  { executor, environment, registry, label, ...credentials }: ConnectOptions,
  exitCode: number = EXIT.failure,
  { startsWithoutDefault = false } = {},
): Promise<ChosenEnvironment | undefined> {
  if (executor !== undefined && environment !== undefined) {
    throw new CommandError("--executor and --environment exclude each other", EXIT.usage);
  }
  if (executor !== undefined && registry !== undefined) {
    throw new CommandError("--executor and --registry exclude each other", EXIT.usage);
  }
  if (registry !== undefined) {
    const { token = process.env.CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN ?? "", ca } = readCredentials(credentials);
    const { chooseRegistered } = await import("./environments.js");
    return chooseRegistered({ registryUrl: registry, environmentId: environment, label, token, ca }, exitCode);
  }
  if (executor !== undefined || (environment === undefined && !areEnvironmentsConfigured())) return undefined;
  const { isThisHost, loadChecked } = await import("./configured-environments.js");
  const config = await loadChecked(exitCode);
  if (isThisHost(config, environment)) return undefined;
  const { chooseDefault, chooseEnvironment } = await import("./environments.js");
  if (startsWithoutDefault && environment === undefined) return chooseDefault(config);
  return chooseEnvironment(config, environment, exitCode);
}

/** Whether the options select this host. Connects nothing. */
export const isOwnHost = ({ executor, environment, registry }: ConnectOptions): boolean =>
  executor === undefined && registry === undefined && environment === undefined && !areEnvironmentsConfigured();

/** Whether environments may be configured. Most users have none, and then nothing is loaded for them. */
export const areEnvironmentsConfigured = (): boolean =>
  Object.keys(process.env).some((name) => /^CODEX_EXEC_SERVER_(URL|NOISE_)/.test(name)) ||
  ["environments.toml", "environments-ts.toml"].some((name) => existsSync(join(codexHome(), name)));

export interface AttachHooks extends OwnExecutorOptions {
  /** Exit code when the executor cannot be reached; default 1. */
  exitCode?: number;
  /** Refuse an exec-server: the command needs an executor that is running already. */
  onlyExecutor?: boolean;
  /** The connection to the exec-server below the executor was lost and is being restored. */
  onInterrupted?: () => void;
  onResumed?: () => void;
}

/**
 * Attaches the executor that the options name. One on a websocket is reconnected when its channel is lost. An exec-server
 * at the address is used through an executor in this process.
 * @throws CommandError naming the executor
 */
export async function attachExecutor(
  orchestrator: Pick<ProgramRunner, "attach">,
  name: string,
  options: ConnectOptions,
  hooks: AttachHooks = {},
  chosen?: ChosenEnvironment,
): Promise<AttachedExecutor> {
  const { executor } = options;
  if (chosen !== undefined) return attachEnvironment(orchestrator, chosen, hooks);
  if (executor === undefined) {
    // Starting its first program shields this process.
    const { startOwnExecutor } = await import("./own-executor.js");
    return orchestrator.attach({ name, channel: startOwnExecutor(hooks) });
  }
  const address = parseExecutorAddress(executor, "--executor");
  const credentials = readCredentials(options);
  try {
    if (address.kind === "ssh") return await attachExecServer(orchestrator, name, { address, credentials, hooks });
    return await attachAddress(orchestrator, name, address, credentials).catch((error: unknown) => {
      if (!(error instanceof OrchestratorError) || error.code !== "wrong_protocol") throw error;
      return attachExecServer(orchestrator, name, { address, credentials, hooks });
    });
  } catch (cause) {
    const detail = messageOf(cause).replace(/^(executor|environment) `[^`]*`: /, "");
    const message = `no executor at ${describeAddress(executor)}: ${detail}${hintFor(cause, credentials)}`;
    throw new CommandError(message, hooks.exitCode ?? EXIT.failure, { cause });
  }
}

async function attachEnvironment(
  orchestrator: Pick<ProgramRunner, "attach">,
  { environment }: ChosenEnvironment,
  hooks: AttachHooks,
): Promise<AttachedExecutor> {
  const { onlyExecutor = false, exitCode = EXIT.failure } = hooks;
  if (onlyExecutor && environment.serves === "exec-server") {
    throw new CommandError(`environment \`${environment.id}\` is an exec-server, which has no sessions of an executor`);
  }
  shieldIfPossible();
  watchEnvironment(environment, hooks);
  try {
    return await environment.attach(orchestrator);
  } catch (cause) {
    throw new CommandError(messageOf(cause), exitCode, { cause });
  }
}

/** A lost executor is reported by the orchestrator. */
function watchEnvironment(environment: Environment, { onInterrupted, onResumed }: AttachHooks): void {
  let wasLost = false;
  environment.onStateChange(({ status }) => {
    if (environment.serves !== "exec-server") return;
    if (status === "reconnecting") onInterrupted?.();
    else if (status === "ready" && wasLost) onResumed?.();
    wasLost = status === "reconnecting";
  });
}

/** Names the option that is probably missing. */
function hintFor(error: unknown, { token }: Credentials): string {
  const codes = listCodes(error);
  if (codes.some((code) => UNTRUSTED.has(code))) return "; --ca-file names the certificates to trust";
  return token === undefined && codes.includes("unauthorized") ? "; give it with --token-file" : "";
}

/** The codes of an error and of its causes. */
function listCodes(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [];
  return ["code" in error ? error.code : undefined, ...listCodes(error.cause)];
}

/** Codes of OpenSSL: the issuer of a certificate is not known. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Without a usable C library no program can be started here, but an executor on another host works. */
export function shieldIfPossible(): void {
  try {
    shieldProcess();
  } catch {
    // This process stays unshielded.
  }
}

/** The executor may run programs on this host: this process is shielded before the first call. */
async function attachAddress(
  orchestrator: Pick<ProgramRunner, "attach">,
  name: string,
  address: Exclude<ExecutorAddress, { kind: "ssh" }>,
  credentials: Credentials,
): Promise<AttachedExecutor> {
  let shielded: Promise<void> | undefined;
  const shieldMeanwhile = (opening: Promise<Channel>): Promise<Channel> => {
    shielded ??= opening.then(shieldWhileAnswering, () => {
      shielded = undefined;
    });
    return opening;
  };
  try {
    return await orchestrator.attach(
      address.kind === "command"
        ? { name, channel: shieldMeanwhile(startCommand(address.line)) }
        : { name, reconnect: (signal) => shieldMeanwhile(connect(address, credentials, signal)) },
    );
  } finally {
    await shielded;
  }
}

/** Loading the C library bindings takes milliseconds, which cost nothing while the response to `initialize` is awaited. */
async function shieldWhileAnswering(): Promise<void> {
  await setImmediate();
  shieldIfPossible();
}

interface Attachment {
  address: ExecutorAddress;
  credentials: Credentials;
  hooks: AttachHooks;
}

/** @throws Error if an executor with sessions is required */
async function attachExecServer(
  orchestrator: Pick<ProgramRunner, "attach">,
  name: string,
  { address, credentials, hooks }: Attachment,
): Promise<AttachedExecutor> {
  if (hooks.onlyExecutor) throw new Error("it is an exec-server, which has no sessions of an executor");
  const { createAddressEnvironment } = await import("./address-environment.js");
  const environment = createAddressEnvironment(name, address, credentials, { endsWithTools: true });
  watchEnvironment(environment, hooks);
  try {
    return await environment.attach(orchestrator);
  } catch (error) {
    await environment.close();
    throw error;
  }
}

function connect(address: ListenerAddress, credentials: Credentials, signal: AbortSignal): Promise<Channel> {
  return connectWebSocket(toUrl(address), { signal, ...credentials });
}

async function startCommand(line: string): Promise<Channel> {
  const problem = findCommandProblem(line);
  if (problem !== undefined) throw new Error(problem);
  // The user's own command line, parsed by a shell. Its stderr goes to the user.
  const onStderr = passToTerminal(process.stderr);
  const env = withoutNodeOptions();
  return connectStdio({ command: "/bin/sh", args: ["-c", replacingShell(line)], env, onStderr });
}

/**
 * A line of plain words replaces the shell, which would otherwise wait with its whole environment readable by the programs
 * of the executor.
 */
const replacingShell = (line: string): string => (getProgram(line) === undefined ? line : `exec ${line}`);
