import * as z from "zod/mini";
import { decodeNoParams, decodeParams, lazily } from "./decode.js";
import { pathMember, refuse } from "./members.js";

/** The host and what it can do; `environment/info` and a member of the response to `initialize`. */
export interface EnvironmentInfo {
  shell: { name: string; path: string };
  /** Version of Codex that the server is compatible with. */
  executorVersion: string;
  /** `sha256:` and 64 hexadecimal digits, the same for every server of one host. */
  providerId: string;
  /** `file:` URIs, as all paths here. */
  cwd: string;
  userHomeDir: string;
  platformOs: string;
  prependPathDirs: string[];
  temporaryDirectories: string[];
  tempDir: string;
  capabilities: EnvironmentCapabilities;
}

/** What an exec-server may be able to do beyond the base methods, by the names of Codex 0.169.0. */
export const CAPABILITY_NAMES = [
  "networkProxyLaunch",
  "networkProxyReviewDomains",
  "credentialMasking",
  "credentialMaskingCustomProviders",
  "capabilityDiscoverySandbox",
  "fsWatchMissing",
  "capabilityDiscoveryV2",
  "environmentConfigRead",
  "httpHeaderEnvVars",
  "sandboxedFileStreaming",
  "fileWriteStreaming",
  "shellSnapshotV2",
  "windowsMxc",
  "linuxRootWritePreservesDevices",
  "linuxApprovedRootWritePreservesRestrictions",
] as const;
/** One of `CAPABILITY_NAMES`. */
export type CapabilityName = (typeof CAPABILITY_NAMES)[number];
/** For each capability, whether the server has it. */
export type EnvironmentCapabilities = Record<CapabilityName, boolean>;

/** The response to `environment/status`. */
export interface EnvironmentStatusResult {
  status: "ready";
}

/** Keys from the outermost table inwards. */
export type TomlPath = readonly string[];

const tomlPaths = z.array(
  z.pipe(
    z.array(z.string()),
    z.transform((path, context): TomlPath => {
      return path.length > 0 ? path : refuse(context, path, "TOML paths must contain at least one key segment");
    }),
  ),
);

const configReadSchema = lazily(() =>
  z.pipe(
    z.object({ cwd: pathMember, configPaths: tomlPaths, requirementsPaths: tomlPaths }),
    z.transform((params, context) => {
      if (params.configPaths.length + params.requirementsPaths.length > 0) return params;
      return refuse(context, params, "at least one config or requirements path is required");
    }),
  ),
);
/** The requested keys of the host's configuration and requirements; `cwd` selects the project layers. */
export type ConfigReadParams = z.output<ReturnType<typeof configReadSchema>>;

/** The response to `environmentConfig/read`: the requested keys, layer by layer, as TOML. */
export interface ConfigReadResult {
  userHomeDir: string;
  codexHomeDir: string;
  hostname: string;
  config: ConfigLayers;
  requirements: ConfigLayers;
}

/** From the weakest layer to the strongest. */
export interface ConfigLayers {
  layers: { source: string; baseDir: string; toml: string }[];
  /** Where the client inserts layers of its own. */
  cloudInsertionIndex: number;
}

/** Validates the parameters of methods that have none. @throws RpcError `invalidParams` */
export const decodeEnvironmentParams = decodeNoParams;

/** Validates the parameters of `environmentConfig/read`. @throws RpcError `invalidParams` */
export const decodeConfigRead = (params: unknown): ConfigReadParams =>
  decodeParams(configReadSchema, params, "EnvironmentConfigReadParams");
