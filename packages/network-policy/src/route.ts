import { type Host, parseHost } from "./host.js";
import { PatternError } from "./pattern.js";
import type { CompiledNetworkPolicy, NetworkRule } from "./policy.js";

/** An address inside of a sandbox, `http://NAME.route/`, behind which is one https host. */
export interface RouteTarget {
  /** Lower-case letters, digits and `-`, at most 40. */
  name: string;
  /** `https://host[:port][/path]`, below which the paths of the route are. */
  url: string;
  /** Only paths that begin with one of these are reached; each begins with `/`. Default: all. */
  paths?: readonly string[] | undefined;
}

/** A route whose target was parsed, with the policy of its requests. */
export interface CompiledRoute {
  name: string;
  host: Host;
  port: number;
  /** As it stands in a URL and in `Host`. */
  authority: string;
  /** Of the URL, without a final `/`. */
  prefix: string;
  paths: readonly string[] | undefined;
  /** That of the session, in which the host of the route is allowed unless a rule forbids it. */
  policy: CompiledNetworkPolicy;
}

/** The host name of a route inside of a sandbox. */
export const nameOfRoute = (name: string): string => `${name}.route`;

/** @param createPolicy compiles the policy of the session with one rule more @throws {PatternError} if it is none */
export function compileRoute(
  { name, url, paths }: RouteTarget,
  createPolicy: (rule: NetworkRule) => CompiledNetworkPolicy,
): CompiledRoute {
  const fail = (problem: string): never => {
    throw new PatternError(`network route ${JSON.stringify(name.slice(0, MAX_NAME_LENGTH + 1))}: ${problem}`);
  };
  if (!NAME.test(name))
    fail(`has a name that is not of lower-case letters, digits and "-", at most ${MAX_NAME_LENGTH}`);
  const parsed = URL.canParse(url) ? new URL(url) : fail(`url ${JSON.stringify(url)} is no URL`);
  if (parsed.protocol !== "https:") fail(`url ${JSON.stringify(url)} does not begin with "https://"`);
  if (parsed.username !== "" || parsed.password !== "" || parsed.search !== "" || parsed.hash !== "") {
    // It may hold a secret, which is not repeated.
    fail("url has a user, a query or a fragment");
  }
  for (const path of paths ?? []) {
    if (!path.startsWith("/") || findTrick(path) !== undefined)
      fail(`path ${JSON.stringify(path)} is none that begins with "/"`);
  }
  const host = parseHost(parsed.hostname) ?? fail(`url ${JSON.stringify(url)} names no host`);
  const port = parsed.port === "" ? 443 : Number(parsed.port);
  const pattern = `${parsed.hostname}:${port}`;
  const policy = createPolicy({ pattern, decision: "allow", source: `route ${name}` });
  const prefix = withoutFinalSlashes(parsed.pathname);
  // In mode `limited`, the method is checked before the request is forwarded.
  return { name, host, port, authority: parsed.host, prefix, paths, policy: { ...policy, mode: "full" } };
}

/** Whether a path, with its query, is one of the route. One that another program may read in another way is none where paths are limited. */
export function isPathOfRoute({ paths, prefix }: Pick<CompiledRoute, "paths" | "prefix">, path: string): boolean {
  if (paths === undefined && prefix === "") return true;
  const plain = path.replace(/\?.*/s, "");
  if (findTrick(plain) !== undefined) return false;
  const isBelow = (each: string) => plain === each || plain.startsWith(each.endsWith("/") ? each : `${each}/`);
  return paths === undefined || paths.some(isBelow);
}

/** Trims in linear time, which a pattern does not. */
export function withoutFinalSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

/** What makes a path lead elsewhere: empty and dotted segments, backslashes, and encoded forms of them. */
const findTrick = (path: string): string | undefined =>
  /\/\/|\/\.{1,2}(?=\/|$|;)|\\|%(?:2e|2f|5c|25|00)|[\0-\x20\x7f]/i.exec(path)?.[0];

const MAX_NAME_LENGTH = 40;
const NAME = new RegExp(`^[a-z0-9](?:[a-z0-9-]{0,${MAX_NAME_LENGTH - 2}}[a-z0-9])?$`);
