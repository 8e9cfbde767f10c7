import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** A request whose `Authorization` is a signature (AWS Signature Version 4). */
export interface SignedRequest {
  method: string;
  /** Path without query, of characters that need no encoding. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Tolerated clock difference to the signer, milliseconds; as in AWS. */
const MAX_AGE_MS = 5 * 60 * 1000;

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([\w+=,.@-]+)\/(\d{8})\/([\w-]+)\/([\w-]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/** Whether a request has a signature. */
export const isSigned = (headers: IncomingHttpHeaders): boolean =>
  headers.authorization?.startsWith("AWS4-HMAC-SHA256 ") ?? false;

/**
 * Whether a request is signed with a secret access key, for any access key id, region and service. Host, time and body
 * must be signed, and the time must be within five minutes. @param now milliseconds since 1970
 */
export function isSignedWith(secret: string, { method, path, headers, body }: SignedRequest, now: number): boolean {
  const [, , day, region, service, names, signature] = AUTHORIZATION.exec(headers.authorization ?? "") ?? [];
  const time = headers["x-amz-date"];
  if (day === undefined || names === undefined || signature === undefined || typeof time !== "string") return false;
  const signed = names.split(";");
  if (!signed.includes("host") || !signed.includes("x-amz-date") || !time.startsWith(day)) return false;
  if (!(Math.abs(parseTime(time) - now) <= MAX_AGE_MS)) return false;
  const lines = signed.map(
    (name) =>
      `${name}:${String(headers[name] ?? "")
        .trim()
        .replace(/ +/g, " ")}\n`,
  );
  const canonical = [method, path, "", lines.join(""), names, sha256(body)].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [day, region!, service!, "aws4_request"].reduce<string | Buffer>(
    (from, part) => hmac(from, part),
    `AWS4${secret}`,
  );
  return timingSafeEqual(hmac(key, toSign), Buffer.from(signature, "hex"));
}

/** Parses `20300131T120000Z` into milliseconds since 1970; NaN if invalid. */
function parseTime(text: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text)?.slice(1).map(Number);
  if (parts === undefined) return Number.NaN;
  const [year = 0, month = 0, date, hours, minutes, seconds] = parts;
  return Date.UTC(year, month - 1, date, hours, minutes, seconds);
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
