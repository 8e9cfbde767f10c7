import type { FetchLike } from "@modelcontextprotocol/client";
import { OAUTH_REQUEST_MS } from "../limits.js";

/** A `fetch` whose requests end after `ms` milliseconds, so that a server that does not answer holds up nothing else. */
export const limitTime =
  (fetch: FetchLike, ms = OAUTH_REQUEST_MS): FetchLike =>
  async (url, init = {}) => {
    const late = AbortSignal.timeout(ms);
    const signal = init.signal == null ? late : AbortSignal.any([init.signal, late]);
    try {
      return await fetch(url, { ...init, signal });
    } catch (error) {
      throw late.aborted ? new Error(`${new URL(url).origin} did not answer within ${ms / 1000} s`) : error;
    }
  };
