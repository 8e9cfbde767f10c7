import { describe, expect, it } from "vitest";
import { parsePauseInText, parseRetryAfter } from "../../src/requests/retry-after.js";

const NOW = Date.parse("2026-01-01T00:00:00Z");

describe("parseRetryAfter", () => {
  it.each([
    [{ "retry-after": "5" }, { delayMs: 5000, standard: true }],
    [{ "retry-after": " 0 " }, { delayMs: 0, standard: true }],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT" }, { delayMs: 9000, standard: true }],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, { delayMs: 0, standard: true }],
    [{ "retry-after": "1.5" }, { delayMs: 1500, standard: false }],
    [{ "retry-after-ms": "250" }, { delayMs: 250, standard: false }],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{}, undefined],
  ])("reads %o", (headers, expected) => {
    expect(parseRetryAfter(new Headers(headers as Record<string, string>), NOW)).toEqual(expected);
  });
});

describe("parsePauseInText", () => {
  it.each([
    ["Please try again in 1.5s. Visit", 1500],
    ["try again in 800ms", 800],
    ["Please try again in 6m0s.", 360_000],
    ["Try again in 20 seconds", 20_000],
    ["retry after 1 minute 30 seconds", 90_000],
    ["Limit 30000, used 2000", undefined],
    ["in a while", undefined],
  ])("reads %s", (text, expected) => {
    expect(parsePauseInText(text)).toBe(expected);
  });
});
