import * as z from "zod/mini";
import { decodeNoParams, decodeParams, lazily } from "./decode.js";
import { pathMember, refuse } from "./members.js";
import { sandboxMember } from "./sandbox.js";

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

const discoverSchema = lazily(() => z.object({ cwd: pathMember, sandbox: sandboxMember() }));
/** Parameters of `capabilities/discoverV2`. */
export type DiscoverParams = z.output<ReturnType<typeof discoverSchema>>;

/** The response to `capabilities/discoverV2`: what is installed on the host for an agent. Paths are `file:` URIs. */
export interface DiscoverResult {
  plugins: DiscoveredPlugin[];
  skills: (DiscoveredSkill & { discoveryRoot: { id: string; path: string } })[];
  /** What could not be read. */
  warnings: string[];
}

/** An installed plugin. */
export interface DiscoveredPlugin {
  /** `NAME@MARKETPLACE`. */
  id: string;
  displayName: string;
  remotePluginId: string | null;
  version: string;
  root: string;
  files: {
    manifest: DiscoveredFile;
    mcpConfig: DiscoveredFile | null;
    appsConfig: DiscoveredFile | null;
  };
  /** Their names begin with that of the plugin and a colon. */
  skills: DiscoveredSkill[];
}

/** A file of a plugin. */
export interface DiscoveredFile {
  path: string;
  contents: string;
}

/** A skill, by its `SKILL.md`. */
export interface DiscoveredSkill {
  name: string;
  description: string;
  shortDescription: string | null;
  path: string;
  dependencies: { tools: SkillTool[] } | null;
  policy: { allowImplicitInvocation: boolean | null; products: string[] } | null;
}

/** A tool that a skill needs. */
export interface SkillTool {
  type: string;
  value: string;
  description: string | null;
  transport: string | null;
  command: string | null;
  url: string | null;
  oauthCallbackPort: number | null;
}

/** Validates the parameters of `capabilities/discoverV2`. @throws RpcError `invalidParams` */
export const decodeDiscover = (params: unknown): DiscoverParams =>
  decodeParams(discoverSchema, params, "CapabilitiesDiscoverParams");

/** Validates the parameters of methods that have none. @throws RpcError `invalidParams` */
export const decodeEnvironmentParams = decodeNoParams;

/** Validates the parameters of `environmentConfig/read`. @throws RpcError `invalidParams` */
export const decodeConfigRead = (params: unknown): ConfigReadParams =>
  decodeParams(configReadSchema, params, "EnvironmentConfigReadParams");
