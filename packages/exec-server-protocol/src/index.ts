export { decodeBase64 } from "./base64.js";
export { decodeNoParams, lazily } from "./decode.js";
export { encodeBodyDelta, encodeBytesResult, encodeJsonResult, encodeProcessOutput, encodeResult } from "./encode.js";
export {
  CAPABILITY_NAMES,
  type CapabilityName,
  type ConfigLayers,
  type ConfigReadParams,
  type ConfigReadResult,
  type DiscoveredFile,
  type DiscoveredPlugin,
  type DiscoveredSkill,
  type DiscoverParams,
  type DiscoverResult,
  decodeConfigRead,
  decodeDiscover,
  decodeEnvironmentParams,
  type EnvironmentCapabilities,
  type EnvironmentInfo,
  type EnvironmentStatusResult,
  type SkillTool,
  type TomlPath,
} from "./environment.js";
export { type FileUrlOptions, type ParsedFileUrl, parseFileUrl, toFileUrl } from "./file-url.js";
export {
  type CanonicalizeParams,
  type CanonicalizeResult,
  type CloseParams,
  type CopyParams,
  type CreateDirectoryParams,
  type DirectoryEntry,
  fsDecoders,
  type GetMetadataParams,
  type Metadata,
  type OpenParams,
  type ReadBlockParams,
  type ReadDirectoryParams,
  type ReadFileParams,
  type RemoveParams,
  type WalkOptions,
  type WalkParams,
  type WalkResult,
  type WatchMissingParams,
  type WatchMissingResult,
  type WriteBlockParams,
  type WriteFileParams,
} from "./fs.js";
export {
  baseName,
  displayPath,
  type HostPath,
  isBelow,
  isSamePath,
  joinPath,
  parentPath,
  pathBytes,
  resolvePath,
  toHostPath,
} from "./host-path.js";
export {
  type BodyDelta,
  decodeHttpCancel,
  decodeHttpRequest,
  type HttpCancelParams,
  type HttpCancelResult,
  type HttpHeader,
  type HttpRequestParams,
} from "./http.js";
export { decodeInitialize } from "./initialize.js";
export { ERROR_CODES, EXEC_SERVER_SUBPROTOCOL, METHODS, NETWORK_POLICY_REQUEST, NOTIFICATIONS } from "./methods.js";
export { toNativeSandbox, toWireSandbox } from "./native-sandbox.js";
export {
  isAllowingAnswer,
  type NetworkPolicyDecision,
  type NetworkPolicyRequest,
  parseNetworkDecision,
  parseNetworkRequest,
  type WireNetworkProtocol,
} from "./network-proxy.js";
export {
  processDecoders,
  type ReadParams,
  type SignalParams,
  type StartParams,
  type TerminateParams,
  WRITE_STATUSES,
  type WriteParams,
  type WriteResult,
  type WriteStatus,
} from "./process.js";
export { refuseSandbox } from "./refuse-sandbox.js";
export type { Sandbox } from "./sandbox.js";
