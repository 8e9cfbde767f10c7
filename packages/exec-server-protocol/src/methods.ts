/** Names this protocol in the handshake of a websocket (`Sec-WebSocket-Protocol`); optional for both ends, and unknown to Codex 0.169.0. */
export const EXEC_SERVER_SUBPROTOCOL = "codex.exec-server.v1";

/** Requests of a client. The last four are extensions of this project; Codex 0.169.0 rejects them with -32601. */
export const METHODS = {
  initialize: "initialize",
  environmentInfo: "environment/info",
  environmentStatus: "environment/status",
  environmentConfigRead: "environmentConfig/read",
  capabilitiesDiscover: "capabilities/discoverV2",
  processStart: "process/start",
  processRead: "process/read",
  processWrite: "process/write",
  processSignal: "process/signal",
  processTerminate: "process/terminate",
  fsReadFile: "fs/readFile",
  fsOpen: "fs/open",
  fsReadBlock: "fs/readBlock",
  fsWriteBlock: "fs/writeBlock",
  fsClose: "fs/close",
  fsWriteFile: "fs/writeFile",
  fsCreateDirectory: "fs/createDirectory",
  fsGetMetadata: "fs/getMetadata",
  fsCanonicalize: "fs/canonicalize",
  fsReadDirectory: "fs/readDirectory",
  fsWalk: "fs/walk",
  fsRemove: "fs/remove",
  fsCopy: "fs/copy",
  fsWatchMissing: "fs/watchMissing",
  httpRequest: "http/request",
  processList: "process/list",
  processResize: "process/resize",
  processCloseStdin: "process/closeStdin",
  httpCancel: "http/cancel",
} as const;

/** Notifications: the first is the client's, the others the server's. */
export const NOTIFICATIONS = {
  initialized: "initialized",
  processOutput: "process/output",
  processExited: "process/exited",
  processClosed: "process/closed",
  fsMissingChanged: "fs/missingChanged",
  httpBodyDelta: "http/request/bodyDelta",
  networkPolicyDecision: "network/policyDecision",
} as const;

/** The only request of the server. */
export const NETWORK_POLICY_REQUEST = "network/policyRequest";

/** Error codes in the responses of an exec-server. */
export const ERROR_CODES = {
  /** The request does not fit the state, or the host refuses it. */
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  /** An error of the operating system, or of this server. */
  internal: -32603,
  /** A path or a file handle does not exist. Clients depend on this code. */
  notFound: -32004,
  /** The session already has a connection; clients retry. */
  sessionBusy: -32010,
  /** A file has other content than a write expects. */
  contentChanged: -32011,
} as const;
