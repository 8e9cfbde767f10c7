import { BlockList, isIP } from "node:net";

/** A proxy that requests go through. Its URL may hold a password: nothing shows it. */
export interface HttpProxy {
  readonly url: URL;
  /** For people: without a password. */
  readonly name: string;
}

/** A proxy cannot be used. The message names its variable, and never its password. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
}

/**
 * The proxy for a URL by the variables that are usual for that, the lower-case ones first: `HTTPS_PROXY` or `HTTP_PROXY`, else
 * `ALL_PROXY`, unless `NO_PROXY` names the host. Undefined: none. Pure.
 * @throws ProxyError naming the variable of a proxy that cannot be used
 */
export function findProxy(target: URL, env: Readonly<Record<string, string | undefined>>): HttpProxy | undefined {
  const own = target.protocol === "https:" ? "https_proxy" : "http_proxy";
  const names = [own, own.toUpperCase(), "all_proxy", "ALL_PROXY"];
  const variable = names.find((name) => (env[name] ?? "").trim() !== "");
  if (variable === undefined || isExcepted(target, env.no_proxy ?? env.NO_PROXY ?? "")) return undefined;
  const given = env[variable]?.trim() ?? "";
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const found = url === undefined ? "no URL" : `a proxy of type ${JSON.stringify(url.protocol)}`;
    throw new ProxyError(`${variable} is ${found}; expected http://HOST:PORT or https://HOST:PORT`);
  }
  return { url, name: `${url.hostname}:${portOf(url)}` };
}

/** Names with everything below them, addresses, networks, each maybe with a port; `*` is everything. */
function isExcepted(target: URL, list: string): boolean {
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

/** The port of a URL, also where it is the usual one. */
export const portOf = ({ port, protocol }: URL): string => port || (protocol === "https:" ? "443" : "80");
