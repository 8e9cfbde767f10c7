import { MAX_RETRY_AFTER_MS } from "../limits.js";

/** Parses a `Retry-After` header (seconds or a date) into milliseconds; undefined if missing or invalid. */
export function readRetryAfter(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  if (Number.isNaN(ms)) return undefined;
  return Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}
