import { BlockList, isIP } from "node:net";

/** An HTTP proxy. Its URL may contain a password, which must not be logged. */
export interface HttpProxy {
  readonly url: URL;
  /** Host and port, for messages. */
  readonly name: string;
}

/** A proxy setting is invalid. The message names the variable, never the password. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
}

/**
 * Finds the proxy for a URL in the standard variables, lower case first: `HTTPS_PROXY` or `HTTP_PROXY`, then `ALL_PROXY`,
 * unless `NO_PROXY` matches the host. Pure.
 * @throws ProxyError naming the variable with an invalid value
 */
export function findProxy(target: URL, env: Readonly<Record<string, string | undefined>>): HttpProxy | undefined {
  const own = target.protocol === "https:" ? "https_proxy" : "http_proxy";
  const names = [own, own.toUpperCase(), "all_proxy", "ALL_PROXY"];
  const variable = names.find((name) => (env[name] ?? "").trim() !== "");
  if (variable === undefined || isExcluded(target, env.no_proxy ?? env.NO_PROXY ?? "")) return undefined;
  const given = env[variable]?.trim() ?? "";
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const found = url === undefined ? "no URL" : `a proxy of type ${JSON.stringify(url.protocol)}`;
    throw new ProxyError(`${variable} is ${found}; expected http://HOST:PORT or https://HOST:PORT`);
  }
  return { url, name: `${url.hostname}:${portOf(url)}` };
}

/** Matches `NO_PROXY`: domains with subdomains, addresses and networks, optionally with a port, or `*`. */
function isExcluded(target: URL, list: string): boolean {
  const host = target.hostname.toLowerCase().replace(/^\[|\]$/g, "");
  return list.split(/[\s,]+/).some((entry) => {
    const [, name = "", port] = /^(.*?|\[.*\])(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (name === "" || (port !== undefined && port !== portOf(target))) return false;
    if (name === "*") return true;
    const plain = name.replace(/^\*?\./, "").replace(/^\[|\]$/g, "");
    return plain === host || (isIP(host) === 0 ? host.endsWith(`.${plain}`) : isInNetwork(host, plain));
  });
}

function isInNetwork(address: string, network: string): boolean {
  const [base = "", bits = ""] = network.split("/");
  const family = isIP(base);
  if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  const type = family === 4 ? "ipv4" : "ipv6";
  list.addSubnet(base, Number(bits), type);
  return isIP(address) === family && list.check(address, type);
}

/** Port of a URL, or the default of its protocol. */
export const portOf = ({ port, protocol }: URL): string => port || (protocol === "https:" ? "443" : "80");
