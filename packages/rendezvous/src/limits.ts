/** Bounds of a rendezvous on what peers can make grow. Bytes are those of the wire, times are milliseconds. */
export interface RendezvousLimits {
  /** Body of a request to the registry. The longest that Codex sends has 6 KiB. */
  maxBodyBytes: number;
  /** From the head of a request to the end of its body. */
  bodyDeadlineMs: number;
  /** From the connection to the end of a request's head. */
  headDeadlineMs: number;
  /** Head of a request. */
  maxHeadBytes: number;
  /** Requests to the registry that are not answered yet; one more is answered 503. */
  maxRequests: number;
  /** Open connections of all kinds; one more is closed unanswered. */
  maxConnections: number;
  /** Registrations; one more is answered 503. */
  maxRegistrations: number;
  /** How long a registration is kept without a connected executor. */
  leaseMs: number;
  /** How long a ticket of a harness is valid. */
  ticketMs: number;
  /** Used tickets that are remembered until they expire; while there are more, every ticket is refused with 503. */
  maxUsedTickets: number;
  /** `connect` requests to one environment: so many at once, and after that so many a second. */
  connectBurst: number;
  connectsPerSecond: number;
  /** Harnesses at one executor: Codex's has at most 128 streams. */
  maxHarnesses: number;
  /** Streams whose first answer is awaited, at one executor; others wait. Codex's resets the 33rd. */
  maxPendingStreams: number;
  /** After this time a stream without an answer is no longer counted as pending. */
  pendingStreamMs: number;
  /** A relay message; a longer one is dropped: Codex closes the connection that it arrives on. */
  maxRelayMessageBytes: number;
  /** A relay message that is still read, to be dropped; a longer one closes its connection. */
  maxReadRelayMessageBytes: number;
  /** A message in clear text: direct, or a legacy frame, which holds one JSON-RPC message. */
  maxClearMessageBytes: number;
  /** Frames of one harness that wait for the executor; above it nothing more of this harness is read. */
  maxWaitingBytes: number;
  /** Bytes handed to an executor's connection ahead of what it takes, so that harnesses get their turns. */
  executorWindowBytes: number;
  /** Unread bytes above which nothing more of their sender is read, if nobody else depends on it. */
  pauseAtBytes: number;
  /** Unread bytes at which a stream is reset, if pausing its sender would stop the streams of others. */
  maxUnreadBytes: number;
  /** Unread bytes of all streams at which those that add to them are reset. */
  maxTotalUnreadBytes: number;
  /** Frames of one connection that were dropped as invalid; one more closes it. */
  maxInvalidFrames: number;
  /** Between two pings of a connection. */
  pingMs: number;
  /** Without a sign of life for this time a connection is cut. */
  silenceMs: number;
  /** The same after a new connection took the place of others or waits for one: the old ones may be dead. */
  probeMs: number;
  /** How long an upgrade waits for an executor in clear text to connect. */
  holdMs: number;
  /** Waiting upgrades of one environment; one more is answered 503. */
  maxHeld: number;
  /** On shutdown: from the close frames to the cut. */
  closeMs: number;
}

/** The limits of a rendezvous that is given none. */
export const DEFAULT_RENDEZVOUS_LIMITS: RendezvousLimits = {
  maxBodyBytes: 16 * 1024,
  bodyDeadlineMs: 10_000,
  headDeadlineMs: 10_000,
  maxHeadBytes: 16 * 1024,
  maxRequests: 1024,
  maxConnections: 50_000,
  maxRegistrations: 50_000,
  leaseMs: 120_000,
  ticketMs: 60_000,
  maxUsedTickets: 500_000,
  connectBurst: 300,
  connectsPerSecond: 100,
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
  maxHeld: 32,
  closeMs: 2_000,
};

/** The given limits over the defaults. @throws RangeError naming a limit that is not a positive integer. */
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

/** Longest bearer token, bytes. */
export const MAX_BEARER_BYTES = 8 * 1024;

/** Longest ticket, bytes: Codex takes an authorization of at most 4096. */
export const MAX_TICKET_BYTES = 2048;

/** Tokens in a file of tokens: each is compared with the one that is presented. */
export const MAX_TOKENS = 4096;

/** A file of tokens, bytes. */
export const MAX_TOKEN_FILE_BYTES = 1024 * 1024;

/** Scopes of one token or JWT. */
export const MAX_SCOPES = 64;

/** A JWKS file, bytes. */
export const MAX_JWKS_FILE_BYTES = 256 * 1024;

/** Difference between the clock of who made a JWT and ours, seconds. */
export const CLOCK_SKEW_S = 30;

/** Descriptors that are left below that of the listener: for as many connections it is closed first when the process is killed. */
export const DESCRIPTORS_BELOW_LISTENER = 4096;
