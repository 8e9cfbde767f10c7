import { join } from "node:path";
import { codexHome } from "@codex/config";
import {
  addSshAddress,
  type ConfiguredEnvironment,
  type ConfiguredSsh,
  createConfiguredProvider,
  createEnvironments,
  createNoiseLink,
  createRemoteEnvironment,
  EnvironmentError,
  type EnvironmentLink,
  type Environments,
  type EnvironmentsConfig,
  openKnownExecutors,
  readSshUrl,
  type UsedEnvironment,
} from "@codex/environments";
import { createHostTools } from "@codex/executor";
import { createLocalEnvironment } from "@codex/local";
import { messageOf, toError } from "@codex/values";
import { CommandError, EXIT } from "./exit-codes.js";
import { say } from "./notice.js";
import { createOwnSshLink } from "./ssh-host.js";

/** An environment that a command uses, connected. */
export interface ChosenEnvironment extends UsedEnvironment {
  /** Set for the default environment of a run, which starts even if it cannot be connected. */
  default?: { fallback: string | undefined } | "none";
  /** Of the environment that was chosen, also where another is used instead of it. */
  permissionProfile?: ConfiguredEnvironment["permissionProfile"];
  /** Ends it. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** Path of the file with the executor keys that this user trusts. */
export const knownExecutorsFile = (): string => join(codexHome(), "known-executors.json");

/**
 * Connects the named environment, or the default; one that is not configured may be given as an `ssh://` URL. Undefined for this
 * host. Reports the use of a fallback on stderr.
 * @throws CommandError, EnvironmentsConfigError
 */
export async function chooseEnvironment(
  configured: EnvironmentsConfig,
  named: string | undefined,
  exitCode: number,
): Promise<ChosenEnvironment | undefined> {
  const { config, id } = addAddress(configured, named);
  if (id === undefined) throw new CommandError(describeDisabled(config), exitCode);
  const environments = openEnvironments(config);
  try {
    const used = await environments.use(id);
    if (used.insteadOf !== undefined) {
      say(
        `environment \`${used.insteadOf.id}\` cannot be used: ${used.insteadOf.reason}; running in \`${used.environment.id}\``,
      );
    }
    const permissionProfile = config.environments.find((one) => one.id === id)?.permissionProfile;
    if (used.environment.id !== "local") return { ...used, permissionProfile, close: () => environments.close() };
    await environments.close();
    return undefined;
  } catch (error) {
    await environments.close();
    throw toCommandError(error, named === undefined, exitCode);
  }
}

/** The default of a run, not connected yet; for `none`, an environment that cannot be connected. */
export function chooseDefault(config: EnvironmentsConfig): ChosenEnvironment {
  const { default: id, environments: configured } = config;
  if (id === undefined) {
    const open = () => Promise.reject(new Error(describeDisabled(config)));
    const environment = createRemoteEnvironment({ id: "none", kind: "none", link: { open } });
    return { environment, default: "none", close: () => environment.close() };
  }
  const environments = openEnvironments(config);
  const fallback = configured.find((one) => one.id === id)?.fallback;
  return { environment: environments.get(id), default: { fallback }, close: () => environments.close() };
}

/** Connects an environment of a registry that is not configured. @throws CommandError */
export async function chooseRegistered(
  {
    environmentId = "",
    label = [],
    ...address
  }: {
    registryUrl: string;
    environmentId: string | undefined;
    label?: readonly string[] | undefined;
    token: string;
    ca?: string | undefined;
  },
  exitCode: number,
): Promise<ChosenEnvironment> {
  if (environmentId === "" && label.length === 0) {
    throw new CommandError("--registry needs --environment ID or --label NAME=VALUE beside it", EXIT.usage);
  }
  (await import("./registry-url.js")).checkRegistryUrl("--registry", address.registryUrl);
  const labels = await readLabels(label);
  const known = openKnownExecutors(knownExecutorsFile());
  const link = createNoiseLink({ ...address, environmentId, labels, known });
  const id = (environmentId || label.join("-").replace(/[^\w.-]/g, "-")).slice(0, MAX_NAME_LENGTH);
  const environment = createRemoteEnvironment({ id, kind: "noise", link, hostTools: createHostTools() });
  try {
    await environment.connect();
    return { environment, close: () => environment.close() };
  } catch (error) {
    await environment.close();
    throw toCommandError(error, false, exitCode);
  }
}

/** `NAME=VALUE` each. @throws CommandError */
async function readLabels(label: readonly string[]): Promise<Record<string, string>> {
  const { parseRegistration } = await import("@codex/relay");
  try {
    return parseRegistration({ environmentId: "any", label }).labels;
  } catch (error) {
    throw new CommandError(messageOf(error), EXIT.usage, { cause: error });
  }
}

/** Maximum characters of an executor's name. */
const MAX_NAME_LENGTH = 64;

/** All environments of a configuration, unconnected. The caller closes them. */
export function openEnvironments(config: EnvironmentsConfig, local = createLocalEnvironment): Environments {
  const provider = createConfiguredProvider(config, {
    local: () => local(),
    hostTools: createHostTools(),
    links: { ssh: createConfiguredSsh },
    knownExecutors: knownExecutorsFile(),
    onLine: (id, line) => say(`${id}: ${line}`),
  });
  // A command uses one of them: nothing else is connected.
  return createEnvironments({ ...provider, eager: [] });
}

function createConfiguredSsh({ url, connectTimeoutMs }: ConfiguredSsh): EnvironmentLink {
  const address = readSshUrl(url);
  if (typeof address === "string") throw new CommandError(address, EXIT.usage);
  return createOwnSshLink(address, connectTimeoutMs);
}

/** Adds an environment for an address that is given instead of an id. */
function addAddress(config: EnvironmentsConfig, named: string | undefined) {
  if (named === undefined || !/^ssh:\/\//.test(named)) return { config, id: named ?? config.default };
  const added = addSshAddress(config, named, "--environment");
  if (typeof added === "string") throw new CommandError(`--environment: ${added}`, EXIT.usage);
  return added;
}

function describeDisabled({ source }: EnvironmentsConfig): string {
  const where = source.kind === "file" ? source.file : source.kind === "variable" ? source.name : "the configuration";
  return `there is no default environment, as configured by ${where}: nothing is run; --environment names one`;
}

function toCommandError(error: unknown, isDefault: boolean, exitCode: number): Error {
  if (!(error instanceof EnvironmentError)) return toError(error);
  const code = error.code === "unknown_environment" ? EXIT.usage : exitCode;
  const hint = isDefault ? "; nothing was run: it is the default, and --environment local would run it here" : "";
  return new CommandError(`${error.message}${hint}`, code, { cause: error });
}
