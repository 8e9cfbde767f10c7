import { MAX_REDIRECTS } from "./limits.js";
import { isName, type PreparedRequest, withoutUser } from "./prepare.js";

/** How to handle a response: follow its redirect, return it (`stay`), or fail. */
export type Redirect =
  | { kind: "follow"; request: PreparedRequest }
  | { kind: "stay" }
  | { kind: "refuse"; problem: string };

/** Decides about a response. @param followed number of redirects followed so far */
export function resolveRedirect(
  request: PreparedRequest,
  status: number,
  location: string | undefined,
  followed: number,
): Redirect {
  if (!REDIRECTS.has(status) || location === undefined) return { kind: "stay" };
  const url = parseLocation(location, request.url);
  if (url === undefined) return { kind: "stay" };
  if (followed >= MAX_REDIRECTS) return { kind: "refuse", problem: "too many redirects" };
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    const scheme = url.protocol.slice(0, -1);
    return { kind: "refuse", problem: `redirect target uses unsupported URL scheme: ${scheme}` };
  }
  return { kind: "follow", request: redirected(request, status, withoutUser(url)) };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const BODY_HEADERS: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "transfer-encoding",
]);
/** Headers that must not be sent to another origin. */
const ORIGIN_HEADERS: ReadonlySet<string> = new Set(["authorization", "cookie", "host", "proxy-authorization"]);

function redirected({ method, url: from, headers, body }: PreparedRequest, status: number, url: URL): PreparedRequest {
  const losesBody = status === 303 ? method !== "GET" && method !== "HEAD" : status < 303 && method === "POST";
  const isElsewhere = url.origin !== from.origin;
  const kept = headers.filter(({ name, isSecret }) => {
    const lowerCase = name.toLowerCase();
    return !(losesBody && BODY_HEADERS.has(lowerCase)) && !(isElsewhere && (isSecret || ORIGIN_HEADERS.has(lowerCase)));
  });
  return losesBody ? { method: "GET", url, headers: kept, body: undefined } : { method, url, headers: kept, body };
}

function parseLocation(location: string, base: URL): URL | undefined {
  try {
    return new URL(location, base);
  } catch {
    return undefined;
  }
}

/** The value of the first header of a name. */
export const findHeader = (headers: readonly { name: string; value: string }[], wanted: string): string | undefined =>
  headers.find(({ name }) => isName(name, wanted))?.value;
