/** Limits of a rendezvous on resources that peers use. Sizes are bytes on the wire, times are milliseconds. */
export interface RendezvousLimits {
  /** Body of a request to the registry. The longest that Codex sends has 6 KiB. */
  maxBodyBytes: number;
  /** Time from the head of a request to the end of its body. */
  bodyDeadlineMs: number;
  /** Time from the connection to the end of a request's head. */
  headDeadlineMs: number;
  /** Head of a request. */
  maxHeadBytes: number;
  /** Concurrent requests to the registry; further ones get 503. */
  maxRequests: number;
  /** Open connections of all kinds; further ones are closed without a response. */
  maxConnections: number;
  /** Of these, connections without an authorized request; for one more, the one that has waited longest is closed. */
  maxUnadmitted: number;
  /** Registrations; further ones get 503. */
  maxRegistrations: number;
  /** How long a registration is kept without a connected executor. */
  leaseMs: number;
  /** How long a ticket of a harness is valid. */
  ticketMs: number;
  /** Used tickets remembered until they expire; at the limit every ticket is refused with 503. */
  maxUsedTickets: number;
  /** Rate of `connect` requests to one environment: burst, and requests per second. */
  connectBurst: number;
  connectsPerSecond: number;
  /** Dials of executors per second: a node announces to its executors how to spread their return, and refuses more than double. */
  dialsPerSecond: number;
  /** Harnesses at one executor: Codex's has at most 128 streams. */
  maxHarnesses: number;
  /** Streams of one executor that have no response yet; others are queued. Codex resets the 33rd. */
  maxPendingStreams: number;
  /** After this time a stream without a response is no longer counted as pending. */
  pendingStreamMs: number;
  /** A relay message; longer ones are dropped, since Codex would close the connection. */
  maxRelayMessageBytes: number;
  /** A relay message that is read and dropped; a longer one closes its connection. */
  maxReadRelayMessageBytes: number;
  /** An unencrypted message: direct, or a legacy frame with one JSON-RPC message. */
  maxClearMessageBytes: number;
  /** Frames of one harness waiting for the executor; above it reading from this harness pauses. */
  maxWaitingBytes: number;
  /** Bytes buffered in an executor's connection; low, so that harnesses are served in turns. */
  executorWindowBytes: number;
  /** Unread bytes above which reading from their sender pauses, if no other stream depends on it. */
  pauseAtBytes: number;
  /** Unread bytes at which a stream is reset, if pausing its sender would block other streams. */
  maxUnreadBytes: number;
  /** Unread bytes of all streams at which a stream that adds to them is reset. */
  maxTotalUnreadBytes: number;
  /** Invalid frames of one connection that are dropped; one more closes it. */
  maxInvalidFrames: number;
  /** Time between two pings of a connection. */
  pingMs: number;
  /** A connection without received data for this time is terminated. */
  silenceMs: number;
  /** The same while a new connection replaces others or waits for one: the old ones may be dead. */
  probeMs: number;
  /** How long an upgrade waits for an unencrypted executor to connect. */
  holdMs: number;
  /** How long `connect` waits for a registered executor that is not connected. */
  connectHoldMs: number;
  /** Waiting upgrades and `connect` requests of one environment; further ones get 503. */
  maxHeld: number;
  /** How long a harness is sent to the same executor of a pool after its last `connect`. */
  stickyMs: number;
  /** How long a harness waits for its disconnected executor in a pool before it gets another one. */
  stickyAwayMs: number;
  /** Harnesses with a remembered executor. */
  maxSticky: number;
  /** Timeout of a request to another node. */
  nodeTimeoutMs: number;
  /** On shutdown: time from the close frames until connections are terminated. */
  closeMs: number;
}

/** Default limits. */
export const DEFAULT_RENDEZVOUS_LIMITS: RendezvousLimits = {
  maxBodyBytes: 16 * 1024,
  bodyDeadlineMs: 10_000,
  headDeadlineMs: 10_000,
  maxHeadBytes: 16 * 1024,
  maxRequests: 1024,
  maxConnections: 50_000,
  maxUnadmitted: 4096,
  maxRegistrations: 150_000,
  leaseMs: 120_000,
  ticketMs: 60_000,
  maxUsedTickets: 500_000,
  connectBurst: 300,
  connectsPerSecond: 100,
  dialsPerSecond: 1000,
  maxHarnesses: 128,
  maxPendingStreams: 24,
  pendingStreamMs: 10_000,
  maxRelayMessageBytes: 256 * 1024,
  maxReadRelayMessageBytes: 1024 * 1024,
  maxClearMessageBytes: 64 * 1024 * 1024,
  maxWaitingBytes: 512 * 1024,
  executorWindowBytes: 128 * 1024,
  pauseAtBytes: 1024 * 1024,
  maxUnreadBytes: 32 * 1024 * 1024,
  maxTotalUnreadBytes: 1024 * 1024 * 1024,
  maxInvalidFrames: 64,
  pingMs: 20_000,
  silenceMs: 45_000,
  probeMs: 5_000,
  holdMs: 25_000,
  connectHoldMs: 2_000,
  maxHeld: 32,
  stickyMs: 600_000,
  stickyAwayMs: 45_000,
  maxSticky: 100_000,
  nodeTimeoutMs: 2_000,
  closeMs: 2_000,
};

/** Merges limits with the defaults. @throws RangeError naming a limit that is not a positive integer. */
export function resolveLimits(limits: Partial<RendezvousLimits> = {}): RendezvousLimits {
  const resolved = { ...DEFAULT_RENDEZVOUS_LIMITS, ...limits };
  for (const [name, value] of Object.entries(resolved)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(`rendezvous limit \`${name}\` must be a positive integer, got ${value}`);
    }
  }
  return resolved;
}

/** Longest environment id, characters: what Codex allows. */
export const MAX_ENVIRONMENT_ID_CHARS = 256;

/** Registrations that a node writes concurrently. */
export const MAX_WRITES_AT_ONCE = 64;

/** How long a harness that was sent to an executor is added to its load, milliseconds: until the reported load includes it. */
export const SEND_COUNTS_MS = 2_000;

/** Maximum number of executors in a list. */
export const MAX_LISTED = 10_000;

/** Longest request from another node, characters. */
export const MAX_NODE_MESSAGE_BYTES = 64 * 1024;

/** Interval at which changes are written for the other nodes, milliseconds. */
export const NODE_TICK_MS = 500;

/** Time limit for the initial connection to NATS, milliseconds. */
export const NATS_CONNECT_MS = 5_000;

/** Maximum number of labels of an executor, and of characters of a value; a label's name has at most 64. */
export const MAX_LABELS = 32;
export const MAX_LABEL_CHARS = 256;

/** Longest name or version of an executor, characters. */
export const MAX_NAME_CHARS = 128;

/** Longest bearer token, bytes. */
export const MAX_BEARER_BYTES = 8 * 1024;

/** Longest ticket, bytes: Codex accepts an authorization of at most 4096. */
export const MAX_TICKET_BYTES = 2048;

/** Tokens in a token file: every one is compared. */
export const MAX_TOKENS = 4096;

/** Size of a token file, bytes. */
export const MAX_TOKEN_FILE_BYTES = 1024 * 1024;

/** Scopes of one token or JWT. */
export const MAX_SCOPES = 64;

/** Size of a JWKS file, bytes. */
export const MAX_JWKS_FILE_BYTES = 256 * 1024;

/** Tolerated clock difference to the issuer of a JWT, seconds. */
export const CLOCK_SKEW_S = 30;

/** Descriptors left free below the listener's: with up to so many connections it is closed first when the process is killed. */
export const DESCRIPTORS_BELOW_LISTENER = 4096;
