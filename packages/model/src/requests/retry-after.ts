/** A requested delay. `standard`: in HTTP's own format, whole seconds or a date. */
export interface RetryAfter {
  readonly delayMs: number;
  readonly standard: boolean;
}

/**
 * Reads the delay requested by response headers: `retry-after` in seconds or as a date, `retry-after-ms`.
 * @param now milliseconds since 1970, for dates
 */
export function parseRetryAfter(headers: Pick<Headers, "get">, now: number): RetryAfter | undefined {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,12}$/.test(value)) return { delayMs: Number(value) * 1000, standard: true };
  if (/^[A-Za-z]{3}/.test(value)) {
    const date = Date.parse(value);
    if (Number.isFinite(date)) return { delayMs: Math.max(0, date - now), standard: true };
  }
  const milliseconds = headers.get("retry-after-ms")?.trim() ?? "";
  if (DECIMAL.test(milliseconds)) return { delayMs: Math.ceil(Number(milliseconds)), standard: false };
  if (DECIMAL.test(value)) return { delayMs: Math.ceil(Number(value) * 1000), standard: false };
  return undefined;
}

const DECIMAL = /^\d{1,12}(?:\.\d{1,12})?$/;

/** Reads the delay from a message such as `Please try again in 1.5s`, `in 800ms`, `in 6m0s`, `in 20 seconds`; milliseconds. */
export function parsePauseInText(text: string): number | undefined {
  const found =
    /\b(?:again|retry) (?:in|after) ((?:\d{1,9}(?:\.\d{1,9})? ?(?:ms|milliseconds?|hours?|h|minutes?|m|seconds?|s)\s*)+)/i.exec(
      text,
    )?.[1];
  if (found === undefined) return undefined;
  let total = 0;
  for (const [, amount = "0", unit = ""] of found.matchAll(/(?<![\d.])([\d.]+) ?([a-z]+)/gi))
    total += Number(amount) * toMs(unit);
  return Math.ceil(total);
}

function toMs(unit: string): number {
  if (/^m(?:s|illi)/i.test(unit)) return 1;
  if (/^h/i.test(unit)) return 3_600_000;
  return /^m/i.test(unit) ? 60_000 : 1000;
}
