/** Why Codex 0.169.0 rejects a text as a websocket URL; undefined if it accepts it. Ports are not checked. */
export function findUrlProblem(url: string): string | undefined {
  if (PLAIN.test(url)) return undefined;
  const rest = /^wss?:\/\/(.*)$/s.exec(url)?.[1];
  if (rest === undefined) return "expected a URL that begins with ws:// or wss://";
  if (Buffer.byteLength(url) > MAX_URL_BYTES) return `expected a URL of at most ${MAX_URL_BYTES} bytes`;
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const [, path = "", query = ""] = /^([^?#]*)(\?[^#]*)?/.exec(end === -1 ? "" : rest.slice(end)) ?? [];
  return findAuthorityProblem(authority) ?? (PATH.test(path) && QUERY.test(query) ? undefined : BAD_CHARACTER);
}

/** Whether traffic to this URL stays on this host. */
export function isLoopback(url: string): boolean {
  const { hostname } = URL.canParse(url) ? new URL(url) : { hostname: "" };
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

const MAX_URL_BYTES = 65_534;
const BAD_CHARACTER = "expected a URL without blanks and characters that must be percent-encoded";
const BAD_AUTHORITY = "expected a host, and optionally a port, after the //";

/** Matches nearly all URLs, so that the other regular expressions need not be compiled at startup. */
const PLAIN = /^wss?:\/\/[a-z0-9.-]{1,255}(?::\d{1,5})?(?:\/[a-z0-9./-]{0,255})?$/;

/** Characters accepted by Codex's parser. */
const AUTHORITY = /^[!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]*$/;
const PATH = /^(?:[!"$-;=@-_a-~\x7f]|[^\0-\x7f])*$/;
const QUERY = /^(?:\?(?:[!$-;=?-~\x7f]|[^\0-\x7f])*)?$/;

function findAuthorityProblem(authority: string): string | undefined {
  if (!AUTHORITY.test(authority)) return BAD_CHARACTER;
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  if (host === "") return BAD_AUTHORITY;
  const brackets = authority.replace(/[^[\]]/g, "");
  const outside = host.slice(host.indexOf("]") + 1);
  const colons = /:/g;
  const isTooDeep = authority.split(/[@\]]/).some((part) => (part.match(colons)?.length ?? 0) > MAX_COLONS);
  const hasPercent = outside.includes("%") || (host.includes("[") && host.slice(0, host.indexOf("[")).includes("%"));
  const isGood = (brackets === "" || brackets === "[]") && !isTooDeep && !hasPercent;
  return isGood && (outside.match(colons)?.length ?? 0) <= 1 ? undefined : BAD_AUTHORITY;
}

const MAX_COLONS = 8;
