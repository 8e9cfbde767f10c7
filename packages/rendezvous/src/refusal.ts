/** HTTP status by reason of a refusal. The names appear on the wire and as metric labels. */
export const REFUSAL_STATUS = {
  bad_request: 400,
  bad_environment_id: 400,
  unsupported_version: 400,
  unsupported_profile: 400,
  unauthenticated: 401,
  token_expired: 401,
  ticket_invalid: 401,
  ticket_expired: 401,
  wrong_scope: 403,
  browser: 403,
  ticket_foreign: 403,
  clear_transport: 403,
  not_found: 404,
  method_not_allowed: 405,
  too_slow: 408,
  registration_unknown: 409,
  registration_conflict: 409,
  ticket_used: 409,
  body_too_large: 413,
  upgrade_required: 426,
  too_many_connects: 429,
  too_many_harnesses: 429,
  internal: 500,
  executor_away: 503,
  nodes_away: 503,
  too_many_waiting: 503,
  too_busy: 503,
  draining: 503,
} as const;

/** Why something was refused. */
export type RefusalCode = keyof typeof REFUSAL_STATUS;

/** A refused request. Its message is for the user of the client, and contains no secrets. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;

  /** @param retryAfterS seconds after which to retry */
  constructor(
    readonly code: RefusalCode,
    message: string,
    readonly retryAfterS?: number,
  ) {
    super(message);
    this.status = REFUSAL_STATUS[code];
  }
}

/** The client disconnected before the response. */
export class ConnectionGone extends Error {
  override readonly name = "ConnectionGone";
}
