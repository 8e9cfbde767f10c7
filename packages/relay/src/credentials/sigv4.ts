import { createHash, createHmac } from "node:crypto";
import { defined } from "@codex/values";

/** AWS keys with their region and service. */
export interface AwsSigner {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  region: string;
  service: string;
}

/** The request to sign. */
export interface SignedRequest {
  method: "GET" | "POST";
  url: string;
  body: string;
  /** Included in the signature if present. */
  contentType?: string | undefined;
}

/** Headers that sign a request with AWS Signature Version 4. @param now milliseconds since the epoch */
export function signRequest(signer: AwsSigner, request: SignedRequest, now: number): Record<string, string> {
  const { accessKeyId, secretAccessKey, sessionToken, region, service } = signer;
  const url = new URL(request.url);
  const time = new Date(now).toISOString().replace(/[:-]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const signed: Record<string, string> = {
    ...defined({ "content-type": request.contentType }),
    host: url.host,
    "x-amz-date": time,
    ...defined({ "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(signed).sort().join(";");
  const canonical = [
    request.method,
    encodePath(url.pathname),
    encodeQuery(url.searchParams),
    ...Object.keys(signed)
      .sort()
      .map((name) => `${name}:${signed[name]}`),
    "",
    names,
    hash(request.body),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, hash(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString("hex");
  const { host: _, "content-type": __, ...sent } = signed;
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...sent, authorization };
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** Encodes an already encoded path again, as all services except S3 require. */
const encodePath = (path: string): string => path.split("/").map(encode).join("/");

const encodeQuery = (query: URLSearchParams): string =>
  Array.from(query, ([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
